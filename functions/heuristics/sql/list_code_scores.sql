select heuristic, key, score, error, decision from code_scores where function_id = $1 and function_version = $2 order by heuristic, scored_at, key
