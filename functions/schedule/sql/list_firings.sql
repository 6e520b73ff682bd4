select at, outcome, by_hand, job_id, detail, fired_at from schedule_firings where schedule_id = $1 order by at desc limit $2
