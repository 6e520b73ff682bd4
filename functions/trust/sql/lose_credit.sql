update lease_cursors set credit = $3 where job_id = $1 and agent_id = $2
