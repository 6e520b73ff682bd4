insert into webhooks (id, name, url, kinds, created_by, paused, pause_reason) values ($1, $2, $3, $4, $5, $6, $7)
