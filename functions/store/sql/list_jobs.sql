select * from job_rows
where ($1::uuid is null or id < $1) and ($3 = '' or state = $3) and ($4 = '' or function_name = $4) and ($5::uuid is null or root_job = $5)
order by id desc limit $2
