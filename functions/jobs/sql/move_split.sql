update jobs set split_next = $2, split_offset = $3,
    split_at = case when split_at = 'infinity' then split_at else clock_timestamp() end,
    state = case when $2 = shards_total then 'running' else state end,
    started_at = coalesce(started_at, now())
where id = $1
