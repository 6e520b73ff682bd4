update workflow_rolling set next = greatest(next, $3::text::numeric), waits = '' where run_id = $1 and number = $2
