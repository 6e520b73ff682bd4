select partial from workflow_parts where run_id = $1 and number = $2 and first = $3::text::numeric
