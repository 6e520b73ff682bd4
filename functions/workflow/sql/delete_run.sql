delete from workflow_runs where id = $1
