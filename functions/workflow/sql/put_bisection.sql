insert into workflow_bisections (run_id, number, side, low, high, middle, phase) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (run_id, number) do update set side = excluded.side, low = excluded.low, high = excluded.high, middle = excluded.middle, phase = excluded.phase
