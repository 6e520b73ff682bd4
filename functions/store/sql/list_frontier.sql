-- The partials that no other has taken in yet, in the order of the shards.
select p.number, p.count, p.data, null::bytea as digest from partials p
where p.job_id = $1 and p.run = $2 and not exists (
    select from partials q where q.job_id = $1 and q.run = $2 and q.level = p.level + 1 and q.number = p.number / $3)
order by p.number * power($3::numeric, p.level)
