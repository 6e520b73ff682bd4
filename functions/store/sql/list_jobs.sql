select r.*, j.validator, j.heuristics, j.rerun_of, j.priority from job_rows r join jobs j on j.id = r.id
where ($1::uuid is null or r.id < $1) and ($3 = '' or r.state = $3) and ($4 = '' or r.function_name = $4) and ($5::uuid is null or r.root_job = $5)
order by r.id desc limit $2
