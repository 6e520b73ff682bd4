select project_id from agent_projects where agent_id = $3 and project_id > $1 order by project_id limit $2
