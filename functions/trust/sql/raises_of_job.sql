select agent_id, factor from audit_raises where job_id = $1 and agent_id = any($2::uuid[])
