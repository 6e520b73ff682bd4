update project_usage set results = greatest(0, results - $2), events = greatest(0, events - $3) where project_id = $1
