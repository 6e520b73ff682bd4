-- A job that waits for nothing but people is in review, one that waits for an aggregator that works is held, any other one runs. The
-- caller holds the job's lock, so that of two transactions which settle the last pages at once the second one sees both. One that is being
-- aggregated stays so while its shards are settled; results that were folded and are not final may go to review, or be lent again.
with todo as (
    select exists (select from pages where job_id = $1 and open > 0) as open,
        exists (select from pages where job_id = $1 and review > 0) as review,
        exists (select from jobs j join aggregations a on a.job_id = j.id and a.run = j.run where j.id = $1 and a.state = 'failed') as failed
),
place as (
    select case when open then 'running' when review then 'review' when failed then 'held' else 'running' end as state, open or review or failed as moves from todo
)
update jobs j set state = place.state from place
where j.id = $1 and j.state <> place.state and (j.state in ('running', 'review', 'held') or j.state = 'aggregating' and place.moves)
returning j.state
