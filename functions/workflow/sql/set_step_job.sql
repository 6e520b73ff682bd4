update workflow_run_steps set job_id = $3 where run_id = $1 and number = $2 and state = 'running'
