select k.id, k.scope, k.agent_id, k.project_id, k.function, k.version, k.reason, k.on_by, k.on_at, k.off_by, k.off_at
from kill_switches k
where k.off_at is null and k.scope = $1 and k.agent_id is not distinct from $2 and k.project_id is not distinct from $3
  and k.function is not distinct from $4 and k.version is not distinct from $5
