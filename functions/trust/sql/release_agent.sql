update trust set caught_at = null, reason = '' where agent_id = $1
