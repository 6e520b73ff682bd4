select agent_id from trust where caught_at is not null
