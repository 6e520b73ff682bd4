-- The levels of isolation in their order: runtime/bundle has the same list.
with levels as (
    select array['process', 'landlock', 'linux-nocgroup', 'linux', 'container', 'gvisor'] as names
)
select count(*) as active,
    count(*) filter (where a.last_seen_at > now() - interval '1 minute') as seen,
    count(*) filter (where a.last_seen_at > now() - interval '1 minute'
        and array_position(l.names, a.isolation) >= array_position(l.names, coalesce(j.min_isolation, 'process'))) as isolated,
    coalesce(max(j.min_isolation), 'process') as isolation
from levels l
cross join agent_projects m
join agents a on a.id = m.agent_id and a.state = 'active'
left join open_jobs j on j.job_id = $2
where m.project_id = $1
