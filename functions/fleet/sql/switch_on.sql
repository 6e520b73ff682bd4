insert into kill_switches (id, scope, agent_id, project_id, function, version, reason, on_by)
values ($1, $2, $3, $4, $5, $6, $7, $8)
