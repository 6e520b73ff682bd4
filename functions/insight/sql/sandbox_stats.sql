select (select count(*) from shown_sandboxes where state = 'running' and seen_at >= now() - interval '1 minute') as running,
    (select count(*) from kill_switches where off_at is null) as switches,
    (select count(*) from kill_switches where off_at is null and scope = 'everything' and agent_id is null) as everything
