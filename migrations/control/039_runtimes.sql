-- For which platform an agent executes functions in runtimes with native code, such as linux/amd64; empty: it executes none.
alter table agents add column runtimes text not null default '';
create or replace view agents_shown as
select id, name, state, state_reason, state_at, coalesce(owner, '') as owner, isolation, min_isolation, projects, platform, created_at, last_seen_at,
    host, shards_done, idle_code, idle_text, idle_seconds, duplicate_at, duplicate_address, coalesce(encode(eula_digest, 'hex'), '') as eula_digest, meter, runtimes
from agents;

-- The platform of the runtime that the function runs in; empty: it runs in what agents have.
alter table open_jobs add column runtime text not null default '';

create or replace function agents_for(project uuid, job uuid)
returns table (id uuid, owner text, isolated boolean, last_seen_at timestamptz) language sql stable as $$
    select a.id, ostraka.owner_at(a.id, agents_for.project),
        coalesce(ostraka.isolation_of(a, coalesce(j.wasm, false)) >= greatest(ostraka.isolation_level(a.min_isolation), ostraka.isolation_level(p.min_isolation),
            ostraka.isolation_level(j.min_isolation)), false) and coalesce(j.runtime, '') in ('', a.runtimes)
            and ostraka.has_volumes(a.volumes, p.id, coalesce(j.volumes, '[]')),
        a.last_seen_at
    from ostraka.projects p
    left join ostraka.open_jobs j on j.job_id = agents_for.job
    cross join ostraka.agents a
    left join ostraka.agent_projects m on m.agent_id = a.id and m.project_id = p.id
    where p.id = agents_for.project and a.state = 'active' and not coalesce(m.excluded, false) and (m.agent_id is not null or p.agents_open)
        and (a.projects = '{}' or p.id = any (a.projects))
$$;
