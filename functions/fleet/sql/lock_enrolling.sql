select a.id, a.state, a.last_seen_at, coalesce(i.address, '') as address
from agents a left join agent_instances i on i.agent_id = a.id and i.instance = a.instance
where a.public_key = $1 for update of a
