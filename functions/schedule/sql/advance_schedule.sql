update schedules set next_at = $2, waits = $3, failures = $4, last_error = $5 where id = $1
