select run_id from workflow_run_steps where job_id = $1 union select run_id from workflow_parts where job_id = $1
