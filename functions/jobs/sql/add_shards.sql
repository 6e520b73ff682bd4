insert into shards (job_id, number, wanted) select $1, n, $4 from generate_series($2::bigint, $3::bigint) n
