-- The submissions that gave what was accepted of the shards after $2 and up to $3, as far as a stranger can check their signatures, and with the
-- record of the agent's key: they have signed statement $5. Without those that the receipt which is being made, the making $4, has already.
-- results says how many each has stated.
with agreed as materialized (
    select a.submission_id from shards s
    join attempts k on k.job_id = s.job_id and k.shard = s.number and k.agent_id = s.agent_id
    join attempts a on a.job_id = s.job_id and a.shard = s.number and a.outcome = k.outcome
    where s.job_id = $1 and s.number > $2 and s.number <= $3 and s.state = 'accepted'
    union
    select submission_id from packed_attempts
    where job_id = $1 and page between ($2::bigint + 1) / 1024 and $3::bigint / 1024 and shard > $2 and shard <= $3
)
select u.id, u.lease_id, u.agent_id, u.signature, t.seq, t.at, t.actor, t.action, t.subject, t.detail, cardinality(coalesce(u.stated, u.shards)) as results,
    exists (select from receipt_signatures r where r.job_id = $1 and r.making = $4 and r.id = u.agent_id) as key_written
from agreed g join submissions u on u.id = g.submission_id
join agent_keys k on k.agent_id = u.agent_id
join audit t on t.seq = k.record_seq and t.pruned_at is null
where u.statement = $5 and not exists (select from receipt_signatures r where r.job_id = $1 and r.making = $4 and r.id = u.id)
order by u.id
