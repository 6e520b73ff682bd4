select number from shards where job_id = $1 and agent_id = $2 and state = 'accepted' and awaits is null order by number limit $3
