select w.id, w.name, w.url, w.kinds, w.created_by, w.created_at, w.paused, w.pause_reason, w.failing_since, w.last_error, w.delivered_at, w.dropped,
    (select count(*) from webhook_deliveries d where d.webhook_id = w.id and d.state in ('waiting', 'sending')) as waiting
from webhooks w where w.id > $1 order by w.id limit $2
