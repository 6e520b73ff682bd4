-- The one that holds first.
select secret from webhook_secrets where webhook_id = $1 and project_id = $2
union all
select old_secret from webhook_secrets where webhook_id = $1 and project_id = $2 and old_until > now()
