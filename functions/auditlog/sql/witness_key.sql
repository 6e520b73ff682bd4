select key from witness_keys where agent_id = $1
