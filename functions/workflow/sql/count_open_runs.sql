select count(*) from workflow_runs where state in ('running', 'paused')
