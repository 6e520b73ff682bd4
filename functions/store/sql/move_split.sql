update jobs set split_next = $2, split_offset = $3,
    state = case when $2 = shards_total then 'running' else state end,
    started_at = coalesce(started_at, now())
where id = $1
