select id, project_id, subject, action, reason, filter, principal, created_by, undoes, turn, state, detail, total, done, failed, created_at, ended_at
from bulk_actions where id = $1 and project_id is not distinct from $2::uuid for update
