select c.agent_id, ostraka.owner_at(c.agent_id, coalesce(c.project_id, '00000000-0000-0000-0000-000000000000')) as owner, c.size, c.at, c.note, c.line, w.key
from cosignatures c join witness_keys w on w.agent_id = c.agent_id
where c.project_id is not distinct from $1 order by c.size desc, c.at desc, c.agent_id limit $2
