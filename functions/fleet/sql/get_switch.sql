select k.id, k.scope, k.agent_id, k.project_id, k.function, k.version, k.reason, k.on_by, k.on_at, k.off_by, k.off_at
from kill_switches k
where k.id = $1 and ($2::uuid is null or k.project_id = $2 or k.scope = 'everything' and k.agent_id is null)
