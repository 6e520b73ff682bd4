insert into witness_keys (agent_id, key, proof) values ($1, $2, $3) on conflict (agent_id) do nothing
