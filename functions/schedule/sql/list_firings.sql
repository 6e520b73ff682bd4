select at, outcome, by_hand, job_id, (select r.id from workflow_runs r where r.id = run_id) as run_id, detail, fired_at from schedule_firings where schedule_id = $1 order by at desc limit $2
