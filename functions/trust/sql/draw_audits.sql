-- A result whose audit came to nothing, and that is accepted once more, is drawn anew. Those of a window were drawn before, when they were gathered
-- in it, with the rate that stands at the shard.
insert into audits (job_id, agent_id, shard, number, rate)
select $1, a.agent, a.shard, a.number, coalesce(nullif(a.rate, 0), case when a.number > 0 then s.draw_rate end)
from unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::smallint[]) as a (agent, shard, number, rate)
join shards s on s.job_id = $1 and s.number = a.shard
on conflict (job_id, shard, agent_id) do update
set number = excluded.number, rate = excluded.rate, state = 'drawn', drawn_at = now(), decided_at = null, reason = ''
