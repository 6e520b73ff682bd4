update workflow_runs set waits_until = null where id = $1 and waits_until = $2
