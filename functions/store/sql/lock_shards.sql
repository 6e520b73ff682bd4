select number, state, lent, agent_id from shards where job_id = $1 and number = any ($2) order by number for update
