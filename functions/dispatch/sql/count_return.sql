-- A lease of the agent was given back without a result.
update lease_cursors set returned = least(returned + 1, 1000) where job_id = $1 and agent_id = $2 returning returned
