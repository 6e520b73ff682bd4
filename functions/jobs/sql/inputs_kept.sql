update jobs set inputs_kept = true where id = $1
