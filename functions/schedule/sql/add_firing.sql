insert into schedule_firings (schedule_id, at, outcome, by_hand, job_id, detail) values ($1, $2, $3, $4, $5, $6) on conflict do nothing
