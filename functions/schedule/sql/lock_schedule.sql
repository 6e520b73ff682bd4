select id, name, spec, revision, created_by, wanted_by, created_at, updated_at, paused, pause_reason, next_at, waits, failures, last_error, workflow_id, now() as now
from schedules where id = $1 for update
