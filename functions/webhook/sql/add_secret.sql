insert into webhook_secrets (webhook_id, project_id, secret) values ($1, $2, $3)
