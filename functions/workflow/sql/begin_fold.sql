update workflow_run_steps set state = 'running', job_id = $3, fold = $4, error = '', started_at = now() where run_id = $1 and number = $2 and state = 'waiting'
