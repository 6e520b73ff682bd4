insert into webhooks (id, name, url, kinds, created_by) values ($1, $2, $3, $4, $5)
