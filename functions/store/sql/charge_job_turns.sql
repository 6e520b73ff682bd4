-- Each open lease that was lent longer ago than $1 is one more turn of its job, as turns.Held has it; $2 is how many strides it may owe.
with held as (
    select job_id, count(*) as n from leases where ended_at is null and lent_at < now() - $1::interval group by job_id
),
line as materialized (
    select o.job_id, h.n from open_jobs o join held h on h.job_id = o.job_id order by o.job_id for update of o
)
update open_jobs o set turn_end = greatest(o.turn_end, least(o.turn_end + l.n * o.stride, o.turn_start + $2::float8 * o.stride))
from line l where o.job_id = l.job_id
