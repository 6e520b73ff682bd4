insert into due_schedules (schedule_id, project_id, look_at) values ($1, $2, $3)
on conflict (schedule_id) do update set look_at = excluded.look_at
