update schedules set paused = true, pause_reason = $2, waits = false, revision = revision + 1, updated_at = now() where id = $1
