-- The owner is left as it is where none is given.
insert into agent_projects (agent_id, project_id, owner, reason) values ($1, $2, $3, $4)
on conflict (agent_id, project_id) do update set excluded = false, reason = excluded.reason, decided_at = now(),
    owner = case when excluded.owner = '' then agent_projects.owner else excluded.owner end
