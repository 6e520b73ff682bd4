-- The levels of isolation in their order: runtime/bundle has the same list.
create function isolation_level(name text) returns int language sql immutable as $$
    select array_position(array['process', 'landlock', 'linux-nocgroup', 'linux', 'container', 'gvisor'], name)
$$;

-- The agents that a project lends work, with whose they are there, and whether their isolation is what a job of it asks for: the strictest of what
-- the function, the project and the agent's owner say. A job that has no shards to lend any more asks for what the project does.
create function agents_for(project uuid, job uuid)
returns table (id uuid, owner text, isolated boolean, last_seen_at timestamptz) language sql stable as $$
    select a.id, ostraka.owner_at(a.id, agents_for.project),
        ostraka.isolation_level(a.isolation) >= greatest(ostraka.isolation_level(a.min_isolation), ostraka.isolation_level(p.min_isolation),
            ostraka.isolation_level(j.min_isolation)),
        a.last_seen_at
    from ostraka.projects p
    left join ostraka.open_jobs j on j.job_id = agents_for.job
    cross join ostraka.agents a
    left join ostraka.agent_projects m on m.agent_id = a.id and m.project_id = p.id
    where p.id = agents_for.project and a.state = 'active' and not coalesce(m.excluded, false) and (m.agent_id is not null or p.agents_open)
        and (a.projects = '{}' or p.id = any (a.projects))
$$;
