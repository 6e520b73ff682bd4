-- How many results a job has, by what its pages count.
select coalesce(sum(accepted), 0)::bigint from pages where job_id = $1
