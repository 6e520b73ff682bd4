-- A job that waits for nothing but people is in review, any other one runs. The caller holds the job's lock, so that of two
-- transactions which settle the last pages at once the second one sees both.
with todo as (
    select exists (select from pages where job_id = $1 and open > 0) as open,
        exists (select from pages where job_id = $1 and review > 0) as review
),
place as (
    select case when review and not open then 'review' else 'running' end as state from todo
)
update jobs j set state = place.state from place
where j.id = $1 and j.state in ('running', 'review') and j.state <> place.state
returning j.state
