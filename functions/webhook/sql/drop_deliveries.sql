-- The newest $1 of those that wait, or are being sent, stay.
with older as (
    select id from webhook_deliveries where state in ('waiting', 'sending') order by id desc offset $1
), gone as (
    update webhook_deliveries d set state = 'dropped', ended_at = now(), error = $2 from older o where d.id = o.id and d.state = 'waiting' returning d.webhook_id
), counted as (
    select webhook_id, count(*) as n from gone group by webhook_id
)
update webhooks w set dropped = w.dropped + c.n from counted c where w.id = c.webhook_id returning w.name, c.n as dropped
