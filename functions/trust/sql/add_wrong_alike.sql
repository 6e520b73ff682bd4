insert into wrong_alike (one, other, job_id, shard) select p.one, p.other, $1, p.shard
from unnest($2::text[], $3::text[], $4::bigint[]) as p (one, other, shard)
on conflict do nothing
