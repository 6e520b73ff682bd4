-- Whether an agent may be lent work of a project, which is whether it sees the head of its log.
select exists (
    select from projects p left join agent_projects m on m.project_id = p.id and m.agent_id = $1
    where p.id = $2 and case when m.agent_id is null then p.agents_open else not m.excluded end)
