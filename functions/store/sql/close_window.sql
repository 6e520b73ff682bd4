update windows set state = $4, audits = $5, drawn = drawn + $6 where job_id = $1 and agent_id = $2 and number = $3
