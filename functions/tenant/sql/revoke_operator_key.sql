update api_keys set revoked_at = coalesce(revoked_at, now()) where role = 'operator' and id = $1
