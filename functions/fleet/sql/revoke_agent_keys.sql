update api_keys set revoked_at = coalesce(revoked_at, now()) where agent_id = $1
