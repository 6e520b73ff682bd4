-- Of those that were asked for at one time the order is drawn by the batch's secret name, so that nobody knows which are left for last: neither
-- of those that wait, nor of those that the batch has, which may end before its last ones.
-- What the batch $1 had when it was cut off, and else the oldest of its lane that nobody has taken: of one job, at most $2 shards, which took agents
-- $3 microseconds together, but always one. What agents say of it is not enough: if each takes as long, or puts out as much, as its
-- function may, the batch is through after $4 seconds and has $5 bytes. What switches hold ($6: functions, empty: all; $7: versions, 0: all)
-- is not taken, nor what the guardian holds by the rules that there are, those of the operators in version $8.
with own as materialized (
    select job_id from rechecks where batch = $1 limit 1
),
first as materialized (
    select r.job_id from recheck_batches b join rechecks r on r.long = b.long and r.batch is null
    join jobs j on j.id = r.job_id join functions f on f.id = j.function_id
    where b.id = $1 and not exists (select from own) and not exists (
        select from unnest($6::text[], $7::int[]) as h (function, version)
        where h.function = '' or h.function = f.name and h.version in (0, j.function_version)
    )
      and not exists (
        select from recheck_holds h where h.job_id = r.job_id and h.until > now() and h.operator_version = $8
          and h.project_version = (select version from guardian_policy)
      )
    order by r.asked_at, r.job_id, r.shard limit 1
),
most as materialized (
    select greatest(1, least($2::bigint, $4::bigint / (v.manifest -> 'limits' ->> 'wall_seconds')::bigint,
        $5::bigint / greatest(1, (v.manifest -> 'limits' ->> 'output_bytes')::bigint))) as shards
    from first join jobs j on j.id = first.job_id join function_versions v on v.function_id = j.function_id and v.version = j.function_version
),
picked as materialized (
    select r.job_id, r.shard, r.asked_at, coalesce((select max(a.wall_us) from attempts a where a.job_id = r.job_id and a.shard = r.shard), 0) as wall
    from rechecks r, first where r.job_id = first.job_id and r.batch is null
    order by r.asked_at, md5($1::uuid::text || r.shard) limit (select shards from most)
),
summed as (
    select job_id, shard, row_number() over w as nth, sum(wall) over w as total from picked window w as (order by asked_at, md5($1::uuid::text || shard))
),
taken as (
    update rechecks r set batch = $1 from summed p
    where r.job_id = p.job_id and r.shard = p.shard and (p.total <= $3 or p.nth = 1)
    returning r.job_id, r.shard
)
select job_id, shard from (
    select job_id, shard from taken
    union
    select job_id, shard from rechecks where batch = $1
) of order by md5($1::uuid::text || shard)
