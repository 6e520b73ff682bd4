-- The newest jobs first.
select archive from job_archives where $1::uuid is null or job_id < $1 order by job_id desc limit $2
