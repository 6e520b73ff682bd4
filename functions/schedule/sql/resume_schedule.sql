update schedules set paused = false, next_at = $2, wanted_by = $3, pause_reason = '', waits = false, failures = 0, last_error = '', revision = revision + 1, updated_at = now()
where id = $1
