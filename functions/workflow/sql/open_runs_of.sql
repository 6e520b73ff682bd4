select count(*) from workflow_runs where workflow_id = $1 and state in ('running', 'paused')
