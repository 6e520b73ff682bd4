select count(*) from shards where job_id = $1 and number >= $2 and number < $3 and state = 'accepted' and agent_id = $4 and awaits is null
