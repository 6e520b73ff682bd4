select owner from lease_cursors where job_id = $1 and agent_id = $2
