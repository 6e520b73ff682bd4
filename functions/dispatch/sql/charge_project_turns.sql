-- Each open lease that was lent longer ago than $1 is one more turn of its project, as turns.Held has it; it may
-- owe $2 strides, and no more than $4 and one for each agent. $3 is the weight that has a stride of 1.
with held as (
    select project_id, count(*) as n, count(distinct agent_id) as agents from leases where ended_at is null and lent_at < now() - $1::interval group by project_id
),
line as materialized (
    select t.project_id, h.n, h.agents from project_turns t join held h on h.project_id = t.project_id order by t.project_id for update of t
)
update project_turns t set turn_end = greatest(t.turn_end, least(t.turn_end + l.n * $3::float8 / p.weight, t.turn_start + least($2::bigint, $4 + l.agents) * $3::float8 / p.weight))
from line l join projects p on p.id = l.project_id where t.project_id = l.project_id
