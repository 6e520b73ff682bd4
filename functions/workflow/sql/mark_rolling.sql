update workflow_rolling set marks = $3::jsonb where run_id = $1 and number = $2
