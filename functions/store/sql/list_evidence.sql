select agent_id, passed, failed, caught_at, reason from trust where agent_id = any ($1)
