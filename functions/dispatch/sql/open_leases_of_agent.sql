select id, project_id, job_id, agent_id from leases where ended_at is null and agent_id = $1 and project_id = $2
