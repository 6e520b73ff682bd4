-- What the server wants of an agent now: the switches that hold something that it might run, and the sandboxes that it is to end.
select statement_timestamp() as at,
    coalesce((
        select jsonb_agg(jsonb_build_object('id', k.id, 'scope', k.scope, 'project', k.project_id, 'function', k.function, 'version', k.version) order by k.id)
        from ostraka.kill_switches k
        where k.off_at is null and (k.agent_id is null or k.agent_id = $1) and (
            k.scope = 'everything'
            or k.project_id in (select project_id from ostraka.agent_projects where agent_id = $1)
            or k.project_id in (select id from ostraka.projects where agents_open)
            or k.project_id in (select project_id from ostraka.leases where agent_id = $1 and ended_at is null)
        )
    ), '[]') as switches,
    coalesce((
        select jsonb_agg(jsonb_build_object('sandbox', s.id, 'force', s.terminate = 'force') order by s.id)
        from ostraka.sandboxes s
        where s.agent_id = $1 and s.ended_at is null and s.terminate is not null and s.seen_at > now() - interval '1 hour'
    ), '[]') as terminate
