-- Two processes that begin at once are let in one after the other.
select a.instance, a.last_seen_at, a.duplicate_at, i.instance is not null as known, i.late_at
from agents a left join agent_instances i on i.agent_id = a.id and i.instance = $2
where a.id = $1 for update of a
