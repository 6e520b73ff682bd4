-- The owner of an agent is lent no more of a job for a while.
update lease_cursors set capped_at = now() where job_id = $1 and (agent_id = $2 or owner = $3 and $3 <> '')
