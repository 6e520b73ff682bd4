select id, role, name, created_at, expires_at, revoked_at, used_at from api_keys where project_id = $1 and id = $2
