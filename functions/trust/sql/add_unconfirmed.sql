-- Notes $3 more attempts of an agent that nobody confirms. A pardon may have forgotten those that are fewer now.
update lease_cursors set unconfirmed = greatest(unconfirmed + $3, 0) where job_id = $1 and agent_id = $2
