-- The look-up is written as a value, so that it is made by key for each partial: as an anti-join the planner may read all partials of the
-- job for each, where the tables have no statistics yet.
select count(*) as partials, coalesce(sum(octet_length(data)), 0)::bigint as bytes from partials p
where p.job_id = $1 and p.run = $2 and not coalesce((
    select true from partials q where q.job_id = $1 and q.run = $2 and q.level = p.level + 1 and q.number = p.number / $3), false)
