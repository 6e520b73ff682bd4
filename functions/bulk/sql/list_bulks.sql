-- The newest first.
select id, project_id, subject, action, reason, filter, principal, created_by, undoes, turn, state, detail, total, done, failed, created_at, ended_at
from bulk_actions where project_id is not distinct from $3::uuid and ($1::uuid is null or id < $1) order by id desc limit $2
