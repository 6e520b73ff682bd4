update guardian_overrides set ended_by = $2, ended_at = now() where id = $1 and ended_at is null
