select a.public_key, w.key from agents a left join witness_keys w on w.agent_id = a.id where a.id = $1 for update of a
