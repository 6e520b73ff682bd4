insert into leases (id, project_id, job_id, agent_id, deadline, last_call)
values ($1, $2, $3, $4, now() + $5::interval, now() + $6::interval)
