update trust set since_failure = 0 where agent_id = $1
