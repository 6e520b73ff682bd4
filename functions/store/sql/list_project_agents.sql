select a.id, a.name, a.state, a.state_reason, a.isolation, a.platform, a.created_at, a.last_seen_at
from agents a join agent_projects m on m.agent_id = a.id
where a.id > $1 and m.project_id = $3 order by a.id limit $2
