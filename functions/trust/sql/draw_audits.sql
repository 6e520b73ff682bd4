-- A result whose audit came to nothing, and that is accepted once more, is drawn anew.
insert into audits (job_id, agent_id, shard, number) select $1, a.agent, a.shard, a.number
from unnest($2::uuid[], $3::bigint[], $4::bigint[]) as a (agent, shard, number)
on conflict (job_id, shard, agent_id) do update set number = excluded.number, state = 'drawn', drawn_at = now(), decided_at = null, reason = ''
