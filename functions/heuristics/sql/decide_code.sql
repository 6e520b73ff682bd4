update code_scores set decision = $3, decided_by = $4, decided_at = now(), reason = $5 where function_id = $1 and function_version = $2
