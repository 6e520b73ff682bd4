select project_id from agent_projects where agent_id = $1
