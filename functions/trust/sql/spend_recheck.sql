insert into ostraka.recheck_spent as s (project_id, day, seconds) values ($1, (now() at time zone 'utc')::date, $2)
on conflict (project_id, day) do update set seconds = s.seconds + excluded.seconds
