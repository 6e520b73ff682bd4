insert into enrolment_tokens (id, project_id, name, token_sha256, expires_at, owner) values ($1, $2, $3, $4, $5, $6)
returning id, name, owner, created_at, expires_at, revoked_at
