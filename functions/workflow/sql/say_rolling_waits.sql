update workflow_rolling set waits = $3 where run_id = $1 and number = $2 and waits <> $3
