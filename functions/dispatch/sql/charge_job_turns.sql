-- Each open lease that was lent longer ago than $1 is one more turn of its job, as turns.Held has it; it may owe $2 strides, and no more than
-- $3 and one for each agent that holds one.
with held as (
    select job_id, count(*) as n, count(distinct agent_id) as agents from leases where ended_at is null and lent_at < now() - $1::interval group by job_id
),
line as materialized (
    select o.job_id, h.n, h.agents from open_jobs o join held h on h.job_id = o.job_id order by o.job_id for update of o
)
update open_jobs o set turn_end = greatest(o.turn_end, least(o.turn_end + l.n * o.stride, o.turn_start + least($2::bigint, $3 + l.agents) * o.stride))
from line l where o.job_id = l.job_id
