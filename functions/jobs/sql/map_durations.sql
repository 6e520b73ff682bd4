-- The time of the attempt whose output was accepted; null where there is none.
select s.number / $4::bigint as page, array_agg(coalesce(a.wall_us, -1) order by s.number) as values
from shards s left join attempts a on a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id and s.state = 'accepted'
where s.job_id = $1 and s.number >= $2 and s.number < $3 group by 1 order by 1
