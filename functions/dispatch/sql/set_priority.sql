update jobs set priority = $2 where id = $1
