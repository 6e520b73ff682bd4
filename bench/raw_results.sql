insert into raw.results (job_id, shard, agent_id, status, output, digest, cpu_us, wall_us, peak_rss)
select $1, n, $2, s, o, d, m, m, m from unnest($3::bigint[], $4::text[], $5::bytea[], $6::bytea[], $7::bigint[]) as r (n, s, o, d, m)
