update workflow_run_steps set document = $3::jsonb where run_id = $1 and number = $2
