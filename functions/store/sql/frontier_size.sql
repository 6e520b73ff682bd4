select count(*) as partials, coalesce(sum(octet_length(data)), 0)::bigint as bytes from partials p
where p.job_id = $1 and p.run = $2 and not exists (
    select from partials q where q.job_id = $1 and q.run = $2 and q.level = p.level + 1 and q.number = p.number / $3)
