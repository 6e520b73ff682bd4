insert into workflow_parts (run_id, number, first, last, state, shards, count, partial)
values ($1, $2, $3::text::numeric, $4::text::numeric, 'done', $5, $6, $7)
