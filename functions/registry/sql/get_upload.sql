select id, project_id, digest, size, expires_at, completed_at from uploads where id = $1 and project_id = $2
