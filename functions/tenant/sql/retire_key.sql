-- What a key that is replaced still has: until $3 at most, never longer than before.
update api_keys set expires_at = least(coalesce(expires_at, 'infinity'), $3::timestamptz)
where project_id = $1 and id = $2 and revoked_at is null and (expires_at is null or expires_at > now())
