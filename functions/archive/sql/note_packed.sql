update jobs set pack_next = nullif($2 + 1, pages_total) where id = $1
