select * from module_runs
where module = $1 and ($2::uuid is null or id < $2) and ($4 = 0 or version = $4) and ($5::boolean is null or (class <> 'ok') = $5) and ($6::uuid is null or job_id = $6)
order by id desc limit $3
