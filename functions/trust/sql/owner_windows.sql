-- What the owner of an agent ($2) has given of a job, what all have, and what the owner's other windows have spent. An agent without an owner
-- is its own. What windows of the job spend together, how much of this one is audited with them, and whether an audit of them has failed.
with kin as materialized (
    select $2::uuid as agent_id
    union
    select c.agent_id from lease_cursors me join lease_cursors c on c.job_id = me.job_id and c.owner = me.owner
    where me.job_id = $1 and me.agent_id = $2 and me.owner <> ''
)
select coalesce(sum(w.results) filter (where k.agent_id is not null), 0)::bigint as results, coalesce(sum(w.results), 0)::bigint as all,
    coalesce(sum(w.risk) filter (where k.agent_id is not null and not (w.agent_id = $2 and w.number = $3)), 0)::float8 as spent,
    coalesce(max(w.together), 0)::float8 as part, coalesce(max(w.share) filter (where w.agent_id = $2 and w.number = $3), 0)::float8 as share,
    coalesce(bool_or(w.share > 0 and w.state = 'failed'), false) as broken,
    (select coalesce(j.shards_total, 0) - coalesce((select sum(p.failed + p.cancelled) from pages p where p.job_id = $1), 0)::bigint
        from jobs j where j.id = $1) as shards
from windows w left join kin k on k.agent_id = w.agent_id where w.job_id = $1
