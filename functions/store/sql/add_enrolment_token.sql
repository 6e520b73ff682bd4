insert into enrolment_tokens (id, project_id, name, token_sha256, expires_at) values ($1, $2, $3, $4, $5)
returning id, name, created_at, expires_at, revoked_at
