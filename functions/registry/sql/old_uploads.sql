select id, project_id, digest, size, expires_at, completed_at from uploads where expires_at < now() - $1::interval order by expires_at limit $2
