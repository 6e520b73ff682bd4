select a.state, count(*) as count, count(*) filter (where a.last_seen_at > now() - interval '1 minute') as online
from agent_projects m join agents a on a.id = m.agent_id where m.project_id = $1 and not m.excluded group by a.state
