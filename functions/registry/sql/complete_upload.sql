update uploads set completed_at = now() where id = $1 and completed_at is null
