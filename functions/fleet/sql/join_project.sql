-- One that was excluded stays so.
insert into agent_projects (agent_id, project_id, owner) values ($1, $2, $3) on conflict do nothing
