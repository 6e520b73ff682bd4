-- The same request again is granted the time again.
update uploads set expires_at = now() + $3::interval where id = $1 and project_id = $2 and completed_at is null
returning id, project_id, digest, size, expires_at, completed_at
