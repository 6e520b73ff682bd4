select f.number, f.count, p.accepted from partials f join pages p on p.job_id = f.job_id and p.number = f.number
where f.job_id = $1 and f.level = 0 and f.count <> p.accepted
