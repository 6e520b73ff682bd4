-- Notes $3 attempts of an agent that nobody confirms.
update lease_cursors set unconfirmed = unconfirmed + $3 where job_id = $1 and agent_id = $2
