update open_jobs set awaits = null, awaits_until = null where job_id = $1
