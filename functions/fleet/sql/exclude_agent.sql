insert into agent_projects (agent_id, project_id, excluded, reason) values ($1, $2, true, $3)
on conflict (agent_id, project_id) do update set excluded = true, reason = excluded.reason, decided_at = now()
