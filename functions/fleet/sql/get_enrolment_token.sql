select id, name, owner, created_at, expires_at, revoked_at, max_uses, uses from enrolment_tokens where project_id = $1 and id = $2
