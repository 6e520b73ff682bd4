-- Whose machine an agent is for a project: what an operator has decided, else what the project itself says. Of one that works for the project
-- without its invitation, since it is open to all agents, it is what the first other project says, under a name that tells nobody that
-- project's business: who joins another project with a hundred machines is not a hundred here.
create function owner_at(agent uuid, project uuid) returns text language sql stable as $$
    select coalesce(
        (select a.owner from ostraka.agents a where a.id = agent),
        (select nullif(m.owner, '') from ostraka.agent_projects m where m.agent_id = agent and m.project_id = project),
        (select 'elsewhere:' || left(encode(sha256(convert_to(m.project_id || ' ' || m.owner, 'UTF8')), 'hex'), 32) from ostraka.agent_projects m
            where m.agent_id = agent and m.project_id <> project and m.owner <> '' order by m.created_at, m.project_id limit 1),
        '')
$$;
