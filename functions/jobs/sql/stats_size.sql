select pages_total, accepted from job_rows where id = $1
