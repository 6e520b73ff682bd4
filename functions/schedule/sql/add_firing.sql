insert into schedule_firings (schedule_id, at, outcome, by_hand, job_id, run_id, detail) values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing
