-- Steps that wait do not run any more.
update workflow_run_steps set state = $2, error = '', ended_at = now() where run_id = $1 and state = 'waiting'
