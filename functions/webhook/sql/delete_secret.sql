delete from webhook_secrets where webhook_id = $1 and project_id = $2
