update workflow_parts set state = 'again' where run_id = $1 and number = $2 and state = 'hole'
