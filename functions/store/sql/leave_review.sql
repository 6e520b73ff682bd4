update jobs set state = 'running' where id = $1 and state = 'review'
