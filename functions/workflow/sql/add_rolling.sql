insert into workflow_rolling (run_id, number, first, until, size, shards, ahead, next, marks)
values ($1, $2, $3::text::numeric, $4::text::numeric, $5::text::numeric, $6, $7, $3::text::numeric, $8::jsonb)
