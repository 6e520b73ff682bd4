-- Only jobs that wait: one that was dispatched goes on.
update open_jobs set held = $4 where project_id = $1 and function = $2 and function_version = $3 and held is not null
