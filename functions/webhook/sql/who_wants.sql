-- A webhook gets nothing that had happened before it was there.
select e.id as event_id, w.id as webhook_id
from webhook_events e join webhooks w on not w.paused and e.kind = any (w.kinds) and w.created_at <= e.at
where e.id = any ($1::uuid[]) order by e.id, w.id
