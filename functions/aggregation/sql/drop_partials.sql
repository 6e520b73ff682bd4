-- Drops the nodes that hold a shard which was opened again, in every run that has not given its answer yet, and the preview that holds it.
with dropped as (
    delete from partials p using unnest($2::int[], $3::bigint[]) as n (level, number), aggregations a
    where p.job_id = $1 and p.level = n.level and p.number = n.number and a.job_id = p.job_id and a.run = p.run and a.state = 'folding'
    returning p.run, p.level
)
update aggregations a set pages_folded = pages_folded - 1, preview_value = null, preview_count = null, preview_pages = null, preview_at = null
from dropped d where a.job_id = $1 and a.run = d.run and d.level = 0
