-- The levels of isolation in their order: runtime/bundle has the same list. The strictest of what the function, the project and the
-- agent's owner ask for decides. $3 are the agents that are lent nothing, $4 those that refuse the job's function, $5 the
-- agents and owners that are excluded from it, and $6 the owners that are caught, named as in functions/trust/hands.go.
with levels as (
    select array['process', 'landlock', 'linux-nocgroup', 'linux', 'container', 'gvisor'] as names
),
asked as (
    select l.names, l.names[greatest(array_position(l.names, coalesce(j.min_isolation, 'process')), array_position(l.names, p.min_isolation))] as isolation,
        p.agents_open
    from levels l
    join projects p on p.id = $1
    left join open_jobs j on j.job_id = $2
),
members as (
    select a.id = any ($3) or $6::text[] <> '{}' and 'owner ' || ostraka.owner_at(a.id, $1) = any ($6) as caught, a.id = any ($4) as refused,
        $5::text[] <> '{}' and ('agent ' || a.id = any ($5) or 'owner ' || ostraka.owner_at(a.id, $1) = any ($5)) as excluded,
        a.last_seen_at > now() - interval '1 minute' as seen,
        array_position(q.names, a.isolation) >= greatest(array_position(q.names, q.isolation), array_position(q.names, a.min_isolation)) as isolated
    from asked q
    cross join agents a
    left join agent_projects m on m.agent_id = a.id and m.project_id = $1
    where a.state = 'active' and not coalesce(m.excluded, false) and (m.agent_id is not null or q.agents_open)
      and (a.projects = '{}' or $1 = any (a.projects))
)
select count(*) as active,
    count(*) filter (where seen) as seen,
    count(*) filter (where seen and isolated) as isolated,
    count(*) filter (where seen and isolated and caught) as caught,
    count(*) filter (where seen and isolated and refused and not caught) as refused,
    count(*) filter (where seen and isolated and excluded and not refused and not caught) as excluded,
    (select isolation from asked) as isolation
from members
