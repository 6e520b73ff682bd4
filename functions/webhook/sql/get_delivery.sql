select d.id, d.webhook_id, d.event_id, e.kind, e.job_id, e.at, d.state, d.tries, d.next_at, d.ended_at, d.status, d.error, e.data, w.url, w.paused
from webhook_deliveries d join webhook_events e on e.id = d.event_id join webhooks w on w.id = d.webhook_id
where d.id = $1
