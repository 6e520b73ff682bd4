-- As many as are missing to $1 that are being sent, those of webhooks whose last try has worked before others. What is being sent for $2 has
-- lost its step, which an operator may have cancelled, and gets another one.
with lost as (
    update webhook_deliveries set next_at = now() where state = 'sending' and next_at < now() - $2::interval returning id
), due as (
    select d.id from webhook_deliveries d join webhooks w on w.id = d.webhook_id
    where d.state = 'waiting' and d.next_at <= now() and not w.paused
    order by w.failing_since is not null, d.next_at, d.id
    limit greatest($1::bigint - (select count(*) from webhook_deliveries where state = 'sending'), 0)
), begun as (
    update webhook_deliveries d set state = 'sending', next_at = now() from due where d.id = due.id returning d.id
)
select id from lost union all select id from begun
