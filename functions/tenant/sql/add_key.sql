insert into api_keys (id, role, project_id, agent_id, name, secret_sha256, expires_at) values ($1, $2, $3, $4, $5, $6, $7)
returning id, role, name, created_at, expires_at, revoked_at, used_at
