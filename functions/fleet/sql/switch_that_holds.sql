-- A switch that keeps this agent ($1; null: any) from the function; the widest first.
select k.id, k.scope, k.agent_id, k.project_id, k.function, k.version, k.reason, k.on_by, k.on_at, k.off_by, k.off_at
from kill_switches k
where k.off_at is null and (k.agent_id is null or k.agent_id = $1) and holds(k, $2, $3, $4)
order by k.scope = 'everything' desc, k.scope = 'project' desc, k.id limit 1
