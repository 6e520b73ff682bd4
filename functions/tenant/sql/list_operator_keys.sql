select id, role, name, created_at, expires_at, revoked_at, used_at from api_keys where id > $1 and role = 'operator' order by id limit $2
