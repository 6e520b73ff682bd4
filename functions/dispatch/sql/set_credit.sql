update lease_cursors set credit = $3, idle = $4, paused_until = case when $5::interval > interval '0' then now() + $5::interval end
where job_id = $1 and agent_id = $2
