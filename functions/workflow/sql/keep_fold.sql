-- $4 is null where the front has not moved.
update workflow_rolling set aggregator = coalesce(aggregator, $3::jsonb), folded = folded + 1, marks = $6::jsonb,
    answer = case when $5::bigint is null then answer else $4::bytea end, answer_count = coalesce($5::bigint, answer_count)
where run_id = $1 and number = $2
