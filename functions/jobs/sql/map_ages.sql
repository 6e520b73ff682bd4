-- For how long the attempt that was lent first is out; null where none is. All agents, as in map_pages.
select s.number / $4::bigint as page, array_agg(coalesce(l.us, -1) order by s.number) as values
from shards s
left join (
    select number, max(extract(epoch from now() - created_at) * 1000000)::bigint as us
    from leases, unnest(shards) as number
    where agent_id >= '00000000-0000-0000-0000-000000000000' and state = 'open' and job_id = $1 group by 1
) l on l.number = s.number and s.state = 'open'
where s.job_id = $1 and s.number >= $2 and s.number < $3 group by 1 order by 1
