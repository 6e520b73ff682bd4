update project_usage set results = greatest(0, results - $2) where project_id = $1
