update agent_instances set late_at = now() where agent_id = $1 and instance = $2
