-- On a switch that is on already this changes nothing.
insert into kill_switches (id, scope, agent_id, project_id, function, version, reason, on_by)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (scope, (coalesce(agent_id::text, '')), (coalesce(project_id::text, '')), (coalesce(function, '')), (coalesce(version, 0))) where off_at is null
do nothing
