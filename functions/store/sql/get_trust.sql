select agent_id, passed, failed, caught_at is not null as caught from trust where agent_id = any ($1)
