-- An attempt in a submission that is not weighed yet still counts as out; the server's own have none. Written as look-ups by key, a shard
-- at a time (`offset 0` keeps the planner from turning them into joins that it may begin at the wrong end).
select a.shard, a.agent_id, a.status, a.outcome, a.void, a.matters is not null as matters
from unnest($2::bigint[]) as n
cross join lateral (
    select shard, agent_id, status, outcome, submission_id, void, matters from attempts where job_id = $1 and shard = n offset 0
) a
where coalesce((select s.verified_at is not null or s.id = $3 from submissions s where s.id = a.submission_id), a.agent_id = '00000000-0000-0000-0000-000000000000')
order by a.shard, a.agent_id
