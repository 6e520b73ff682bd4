update open_jobs set awaits = $2 where job_id = $1
