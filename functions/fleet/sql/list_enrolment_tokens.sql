select id, name, owner, created_at, expires_at, revoked_at, max_uses, uses from enrolment_tokens where id > $1 and project_id = $3 order by id limit $2
