insert into schedules (id, name, spec, created_by, wanted_by, paused, next_at, workflow_id) values ($1, $2, $3::jsonb, $4, $4, $5, $6, $7)
