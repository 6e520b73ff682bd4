select * from job_rows where id = $1
