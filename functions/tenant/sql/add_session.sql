insert into sessions (id, key_id, role, project_id, subject, secret_sha256, user_agent) values ($1, $2, $3, $4, $5, $6, $7)
