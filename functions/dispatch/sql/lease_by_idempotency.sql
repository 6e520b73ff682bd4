select l.id, l.project_id, l.deadline, l.ended_at is not null as ended, k.request_sha256
from idempotency_keys k join leases l on l.id = k.resource_id
where k.scope = $1 and k.operation = 'lease' and k.key = $2 and l.agent_id = $1
