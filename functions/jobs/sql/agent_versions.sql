-- Of the agents that were heard of lately. $1: of one project; null: all.
select coalesce(a.platform ->> 'agent', '') as version, count(*) as agents
from agents a
where a.last_seen_at > now() - $2::interval and a.state <> 'revoked'
    and ($1::uuid is null or exists (select from agent_projects m where m.project_id = $1 and m.agent_id = a.id))
group by 1 order by 2 desc, 1 limit 100
