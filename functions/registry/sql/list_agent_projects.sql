select p.id from projects p left join agent_projects m on m.project_id = p.id and m.agent_id = $3
where p.id > $1 and not coalesce(m.excluded, false) and (m.agent_id is not null or p.agents_open)
order by p.id limit $2
