-- Whether an agent sees the head of a project's log: whether it may be lent work of the project, or still has some that it was lent.
select exists (
    select from projects p left join agent_projects m on m.project_id = p.id and m.agent_id = $1
    where p.id = $2 and case when m.agent_id is null then p.agents_open else not m.excluded end)
or exists (select from leases where agent_id = $1 and project_id = $2 and ended_at is null)
