select number, state, awaits from shards where job_id = $1 and awaits is not null and (state <> 'accepted' or agent_id is null)
