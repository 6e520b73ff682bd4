-- Agents that a project has admitted without saying whose they are have one voice together, as those that came from nowhere.
create or replace function owner_at(agent uuid, project uuid) returns text language sql stable as $$
    select coalesce(
        (select nullif(a.owner, '') from ostraka.agents a where a.id = agent),
        (select coalesce(nullif(m.owner, ''), 'elsewhere') from ostraka.agent_projects m where m.agent_id = agent and m.project_id = project),
        (select 'elsewhere:' || left(encode(sha256(convert_to(m.project_id::text, 'UTF8')), 'hex'), 32) from ostraka.agent_projects m
            where m.agent_id = agent and m.project_id <> project order by m.created_at, m.project_id limit 1),
        'elsewhere')
$$;
