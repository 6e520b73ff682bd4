-- The folders that the owner of an agent, or the operator of a server that executes shards, lets functions read: an array of objects with the name, the
-- mode, the fingerprint where there is one, and the projects that it is for where it is not for all. No path is part of it.
alter table agents add column volumes jsonb not null default '[]';
alter table recheckers add column volumes jsonb not null default '[]';

-- Those that the job's function wants, as its manifest has them.
alter table open_jobs add column volumes jsonb not null default '[]';

-- Whether a machine has one of the volumes that a function of a project wants.
create function has_volume(have jsonb, project uuid, wanted jsonb) returns boolean language sql immutable as $$
    select exists (
        select from jsonb_array_elements(have) h
        where h ->> 'name' = wanted ->> 'name' and (h ->> 'mode' = wanted ->> 'mode' or h ->> 'mode' = 'rw')
          and (wanted ->> 'fingerprint' is null or h ->> 'fingerprint' = wanted ->> 'fingerprint')
          and (h -> 'projects' is null or h -> 'projects' ? project::text)
    )
$$;

-- Whether it has all of them.
create function has_volumes(have jsonb, project uuid, wanted jsonb) returns boolean language sql immutable as $$
    select wanted = '[]' or not exists (select from jsonb_array_elements(wanted) w where not ostraka.has_volume(have, project, w))
$$;

create or replace function agents_for(project uuid, job uuid)
returns table (id uuid, owner text, isolated boolean, last_seen_at timestamptz) language sql stable as $$
    select a.id, ostraka.owner_at(a.id, agents_for.project),
        coalesce(ostraka.isolation_of(a, coalesce(j.wasm, false)) >= greatest(ostraka.isolation_level(a.min_isolation), ostraka.isolation_level(p.min_isolation),
            ostraka.isolation_level(j.min_isolation)), false) and ostraka.has_volumes(a.volumes, p.id, coalesce(j.volumes, '[]')),
        a.last_seen_at
    from ostraka.projects p
    left join ostraka.open_jobs j on j.job_id = agents_for.job
    cross join ostraka.agents a
    left join ostraka.agent_projects m on m.agent_id = a.id and m.project_id = p.id
    where p.id = agents_for.project and a.state = 'active' and not coalesce(m.excluded, false) and (m.agent_id is not null or p.agents_open)
        and (a.projects = '{}' or p.id = any (a.projects))
$$;
