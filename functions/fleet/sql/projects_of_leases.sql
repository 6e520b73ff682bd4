-- The projects from which the agent has something on loan.
select distinct project_id from leases where agent_id = $1 and ended_at is null
