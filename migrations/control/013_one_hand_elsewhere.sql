-- In a project that is open to all agents those that came through another project are one hand for that project, whatever owners it names:
-- it could invent as many as a quorum wants. Those that came through none are one hand together. An operator who knows better says whose an
-- agent is.
create or replace function owner_at(agent uuid, project uuid) returns text language sql stable as $$
    select coalesce(
        (select a.owner from ostraka.agents a where a.id = agent),
        (select m.owner from ostraka.agent_projects m where m.agent_id = agent and m.project_id = project),
        (select 'elsewhere:' || left(encode(sha256(convert_to(m.project_id::text, 'UTF8')), 'hex'), 32) from ostraka.agent_projects m
            where m.agent_id = agent and m.project_id <> project order by m.created_at, m.project_id limit 1),
        'elsewhere')
$$;
