-- Stretches within [$3, $4), which one takes the place of.
delete from workflow_parts where run_id = $1 and number = $2 and first >= $3::text::numeric and last <= $4::text::numeric
