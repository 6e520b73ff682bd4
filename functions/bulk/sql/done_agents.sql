-- The agents of the installation that are as the bulk action has left them ($2), and that it found as the undo makes them ($3). What
-- somebody has decided before it or since stays.
select i.item, (extract(epoch from a.state_at) * 1000000)::bigint as revision, a.state as was
from bulk_items i join bulk_actions b on b.id = i.bulk_id join agents a on a.id = i.item
where i.bulk_id = $1 and i.state = 'done' and i.was = $3 and a.state = $2 and a.state_reason = b.reason and a.state_at between b.created_at and i.settled_at
order by i.number
