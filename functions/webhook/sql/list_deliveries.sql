select d.id, d.webhook_id, d.event_id, e.kind, e.job_id, e.at, d.state, d.tries, d.next_at, d.ended_at, d.status, d.error
from webhook_deliveries d join webhook_events e on e.id = d.event_id
where d.webhook_id = $1 and d.id < $2 order by d.id desc limit $3
