select id, project_id, job_id, agent_id from leases where ended_at is null and deadline < now() order by deadline limit $1
