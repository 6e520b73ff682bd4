update raw.shards set state = 'accepted', agent_id = $3 where job_id = $1 and number = any ($2)
