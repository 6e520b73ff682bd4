update jobs set split_at = 'infinity' where id = $1 and state = 'splitting' and split_at < 'infinity'
