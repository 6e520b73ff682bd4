-- The platform that the server executes shards of the job on. Where there are several it is not known.
insert into lease_cursors as c (job_id, agent_id, next, class) values ($1, '00000000-0000-0000-0000-000000000000', 0, $2)
on conflict (job_id, agent_id) do update set class = '' where c.class not in ('', excluded.class)
