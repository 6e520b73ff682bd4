-- Which output each accepted shard has, and who gave exactly these bytes; the nil agent is the server.
select s.number as shard, encode(a.output_digest, 'hex') as output,
    array(select b.agent_id::text from attempts b
        where b.job_id = s.job_id and b.shard = s.number and b.outcome = a.outcome and b.agent_id <> '00000000-0000-0000-0000-000000000000'
        order by 1 limit $4) as agents,
    exists (select from attempts b
        where b.job_id = s.job_id and b.shard = s.number and b.outcome = a.outcome and b.agent_id = '00000000-0000-0000-0000-000000000000') as server
from shards s join attempts a on a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id
where s.job_id = $1 and s.number > $2 and s.state = 'accepted' order by s.number limit $3
