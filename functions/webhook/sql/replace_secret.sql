update webhook_secrets set old_secret = secret, old_until = now() + $4::interval, secret = $3 where webhook_id = $1 and project_id = $2
