select p.id from projects p left join agent_projects m on m.project_id = p.id and m.agent_id = $1
where m.agent_id is not null or p.agents_open
