update audits a set state = d.state, reason = d.reason, decided_at = now()
from unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[]) as d (agent, shard, state, reason)
where a.job_id = $1 and a.agent_id = d.agent and a.shard = d.shard and a.state = 'drawn'
