select exists (select from api_keys where id = $1 and revoked_at is null and (expires_at is null or expires_at > now()))
