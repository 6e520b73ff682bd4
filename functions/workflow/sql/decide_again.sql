update workflow_run_steps set state = 'waiting', job_id = null where run_id = $1 and number = $2 and state = 'running'
