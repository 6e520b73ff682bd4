-- Postgres plans a function in SQL that reads tables again for every query that calls it, and these two are part of every lease: their planning cost
-- more than the rest of it. One in PL/pgSQL is planned once for each connection. What they answer is as before (024_no_owner, 036_volumes).
create or replace function owner_at(agent uuid, project uuid) returns text language plpgsql stable as $$
begin
    return coalesce(
        (select nullif(a.owner, '') from ostraka.agents a where a.id = agent),
        (select coalesce(nullif(m.owner, ''), 'elsewhere') from ostraka.agent_projects m where m.agent_id = agent and m.project_id = project),
        (select 'elsewhere:' || left(encode(sha256(convert_to(m.project_id::text, 'UTF8')), 'hex'), 32) from ostraka.agent_projects m
            where m.agent_id = agent and m.project_id <> project order by m.created_at, m.project_id limit 1),
        'elsewhere');
end
$$;

create or replace function has_volumes(have jsonb, project uuid, wanted jsonb) returns boolean language plpgsql immutable as $$
begin
    return wanted = '[]' or not exists (select from jsonb_array_elements(wanted) w where not ostraka.has_volume(have, project, w));
end
$$;
