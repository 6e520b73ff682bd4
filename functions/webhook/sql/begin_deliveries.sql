-- As many as are missing to $1 that are being sent.
with due as (
    select d.id from webhook_deliveries d join webhooks w on w.id = d.webhook_id
    where d.state = 'waiting' and d.next_at <= now() and not w.paused
    order by d.next_at, d.id limit greatest($1::bigint - (select count(*) from webhook_deliveries where state = 'sending'), 0)
)
update webhook_deliveries d set state = 'sending' from due where d.id = due.id returning d.id
