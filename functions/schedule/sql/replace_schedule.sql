update schedules set name = $2, spec = $3::jsonb, paused = $4, next_at = $5, wanted_by = $6, pause_reason = '', waits = false, failures = 0, last_error = '',
    revision = revision + 1, updated_at = now()
where id = $1
