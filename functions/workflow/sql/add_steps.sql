insert into workflow_run_steps (run_id, number, name) select $1, n - 1, name from unnest($2::text[]) with ordinality as s (name, n)
