insert into uploads (id, project_id, digest, size, created_by, expires_at) values ($1, $2, $3, $4, $5, now() + $6::interval)
