update webhooks set last_error = $2, failing_since = case when $2::text = '' then null else coalesce(failing_since, now()) end,
    delivered_at = case when $2::text = '' then now() else delivered_at end
where id = $1
