select function_id, function_version as version, state, policy, heuristics from jobs where id = $1
