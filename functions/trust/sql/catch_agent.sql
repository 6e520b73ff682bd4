update trust set caught_at = now(), reason = $2 where agent_id = $1 and caught_at is null
