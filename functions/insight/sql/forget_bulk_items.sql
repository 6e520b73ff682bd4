-- What was left of a bulk action that was cancelled long ago, and what was done to flags and jobs: nothing takes that back.
delete from bulk_items i using bulk_actions b
where b.id = i.bulk_id and b.state <> 'running' and b.ended_at < now() - $1::interval
    and (i.state = 'waiting' and b.state = 'cancelled' or i.state = 'done' and b.subject <> 'agents')
