-- A job whose priority changes pays for its last turn by the new one: it is not kept back by what it was before.
update open_jobs set stride = $2::float8, turn_end = turn_start + (turn_end - turn_start) * $2::float8 / stride where job_id = $1
