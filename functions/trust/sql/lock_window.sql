select state, audits, passed, drawn from windows where job_id = $1 and agent_id = $2 and number = $3 for update
