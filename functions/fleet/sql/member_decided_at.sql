select excluded, reason, (extract(epoch from decided_at) * 1000000)::bigint as at from agent_projects where agent_id = $1 and project_id = $2
