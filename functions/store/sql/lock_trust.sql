select agent_id from trust where agent_id = any ($1) order by agent_id for update
