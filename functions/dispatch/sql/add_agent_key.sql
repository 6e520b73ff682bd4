-- The key by which an agent signs, before its record in the log. No row: another post has it already, or had it first.
insert into agent_keys (agent_id, key) values ($1, $2) on conflict (agent_id) do nothing
