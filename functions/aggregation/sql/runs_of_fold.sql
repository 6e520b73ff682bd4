select run_id from workflow_run_steps where job_id = $1 and fold = $2
