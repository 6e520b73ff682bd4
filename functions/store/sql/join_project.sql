insert into agent_projects (agent_id, project_id) values ($1, $2) on conflict do nothing
