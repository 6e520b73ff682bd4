update project_usage set results = $2, events = $3 where project_id = $1
