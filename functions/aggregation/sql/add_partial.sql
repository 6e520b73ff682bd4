insert into partials (job_id, run, level, number, count, data) values ($1, $2, $3, $4, $5, $6) on conflict do nothing
