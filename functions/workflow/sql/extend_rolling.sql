update workflow_rolling set until = $3::text::numeric where run_id = $1 and number = $2
