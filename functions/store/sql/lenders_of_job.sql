select agent_id, owner, block, class from lease_cursors where job_id = $1 and agent_id = any ($2)
