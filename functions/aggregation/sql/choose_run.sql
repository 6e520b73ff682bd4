update jobs set run = $2 where id = $1
