insert into webhook_looks (project_id, look_at) values ($1, now() + $2::interval)
