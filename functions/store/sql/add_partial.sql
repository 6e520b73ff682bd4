insert into partials (job_id, level, number, count, data) values ($1, $2, $3, $4, $5) on conflict do nothing
