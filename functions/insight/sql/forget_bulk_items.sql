-- What was left of a bulk action that was cancelled long ago.
delete from bulk_items i using bulk_actions b
where b.id = i.bulk_id and b.state = 'cancelled' and b.ended_at < now() - $1::interval and i.state = 'waiting'
