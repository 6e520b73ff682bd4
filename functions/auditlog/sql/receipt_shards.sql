-- Which output each accepted shard has, and who gave exactly these bytes; the nil agent is the server. All attempts of a shard that are packed did.
with picked as materialized (
    select job_id, number, agent_id from shards where job_id = $1 and number > $2 and state = 'accepted' order by number limit $3
)
select s.number as shard, encode(a.output_digest, 'hex') as output,
    array(select b.agent_id::text from attempts b
        where b.job_id = s.job_id and b.shard = s.number and b.outcome = a.outcome and b.agent_id <> '00000000-0000-0000-0000-000000000000'
        order by 1 limit $4) as agents,
    exists (select from attempts b
        where b.job_id = s.job_id and b.shard = s.number and b.outcome = a.outcome and b.agent_id = '00000000-0000-0000-0000-000000000000') as server
from picked s join attempts a on a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id
union all
select shard, encode(output_digest, 'hex'), (array_agg(agent_id::text order by agent_id::text))[1:$4::int], false
from packed_attempts
where job_id = $1 and page = any (array(select distinct number / 1024 from picked)) and shard > $2 and shard <= (select max(number) from picked)
group by shard, output_digest
order by shard
