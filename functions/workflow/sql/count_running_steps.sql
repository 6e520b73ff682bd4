select count(*) from workflow_run_steps where run_id = $1 and state = 'running'
