-- The switches that are on. Within a project ($1): its own, those of its agents in it, and those of everything.
select k.id, k.scope, k.agent_id, k.project_id, k.function, k.version, k.reason, k.on_by, k.on_at, k.off_by, k.off_at
from kill_switches k
where k.off_at is null and ($1::uuid is null or k.project_id = $1 or k.scope = 'everything' and k.agent_id is null)
order by k.id
