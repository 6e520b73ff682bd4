update workflow_run_steps set state = $3, error = $4, started_at = coalesce(started_at, now()), ended_at = now()
where run_id = $1 and number = $2 and state in ('waiting', 'running')
