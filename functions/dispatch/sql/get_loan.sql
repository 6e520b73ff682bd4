-- What the agent $2, of the owner $3 if it has one, has of the job $1, and what the owner's other agents have. Two of them that are lent
-- shards at the same time do not see one another's leases: they may pass the limit by one lease each.
with kin as materialized (
    select agent_id, credit, results, capped_at, unconfirmed from lease_cursors where job_id = $1 and (agent_id = $2 or owner = $3 and $3 <> '')
)
select (select count(*) from kin where agent_id <> $2) + 1 as agents, (select coalesce(sum(credit), 0)::bigint from kin) as credit,
    (select coalesce(sum(cardinality(l.shards) - l.reported), 0)::bigint from kin join leases l on l.agent_id = kin.agent_id
        where l.job_id = $1 and l.state = 'open') as held,
    (select count(*) from leases l where l.agent_id = $2 and l.job_id = $1 and l.state = 'open') as leases,
    (select coalesce(sum(results), 0)::bigint from kin) as given, (select extract(epoch from now() - max(capped_at)) from kin)::float8 as capped,
    (select coalesce(sum(unconfirmed), 0)::bigint from kin) as unconfirmed,
    coalesce((select j.shards_total from jobs j where j.id = $1), 0) as shards,
    coalesce((select c.paused_until > now() from lease_cursors c where c.job_id = $1 and c.agent_id = $2), false) as paused
