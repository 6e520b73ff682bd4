-- What stands in a folder takes the place of what was there. A pause stays: a push does not take back what somebody has decided.
update schedules set name = $2, spec = $3::jsonb, next_at = $4, wanted_by = $5, waits = false, failures = 0, last_error = '', revision = revision + 1, updated_at = now()
where id = $1
