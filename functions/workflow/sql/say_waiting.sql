update workflow_run_steps set error = $3 where run_id = $1 and number = $2 and state = 'waiting' and error <> $3
