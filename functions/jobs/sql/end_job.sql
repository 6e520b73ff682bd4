update jobs set state = $2, error = $3, finished_at = now() where id = $1
