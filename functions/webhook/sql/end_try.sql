update webhook_deliveries set state = $2, tries = $3, status = $4, error = $5, next_at = now() + $6::interval,
    ended_at = case when $2::text = 'waiting' then null else now() end
where id = $1 and state = 'sending'
