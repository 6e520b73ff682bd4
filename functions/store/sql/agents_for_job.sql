-- The levels of isolation in their order: runtime/bundle has the same list. $3 are the agents that are lent nothing, $4
-- those that refuse the job's function.
with levels as (
    select array['process', 'landlock', 'linux-nocgroup', 'linux', 'container', 'gvisor'] as names
),
members as (
    select a.id = any ($3) as caught, a.id = any ($4) as refused, a.last_seen_at > now() - interval '1 minute' as seen,
        array_position(l.names, a.isolation) >= array_position(l.names, coalesce(j.min_isolation, 'process')) as isolated,
        j.min_isolation
    from levels l
    cross join agent_projects m
    join agents a on a.id = m.agent_id and a.state = 'active'
    left join open_jobs j on j.job_id = $2
    where m.project_id = $1
)
select count(*) as active,
    count(*) filter (where seen) as seen,
    count(*) filter (where seen and isolated) as isolated,
    count(*) filter (where seen and isolated and caught) as caught,
    count(*) filter (where seen and isolated and refused and not caught) as refused,
    coalesce(max(min_isolation), 'process') as isolation
from members
