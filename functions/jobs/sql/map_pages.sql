-- How many attempts are out stands in the open leases. All agents: it keeps to the index of leases that are open, of which there are few.
select p.number, p.open, p.accepted - p.provisional as final, p.provisional, p.review, p.failed, p.cancelled, coalesce(l.out, 0)::integer as out, p.reopened > 0 as reopened
from pages p
left join (
    select number / $4::bigint as page, count(*) as out
    from leases, unnest(shards) as number
    where agent_id >= '00000000-0000-0000-0000-000000000000' and state = 'open' and job_id = $1 group by 1
) l on l.page = p.number
where p.job_id = $1 and p.number >= $2 and p.number < $3 order by p.number
