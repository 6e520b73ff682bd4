-- Nothing of the job is lent to the agent for so long; what pauses it for longer stays.
update lease_cursors set paused_until = greatest(paused_until, now() + $3::interval) where job_id = $1 and agent_id = $2
