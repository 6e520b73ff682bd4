insert into enrolment_tokens (id, project_id, name, token_sha256, expires_at, owner, max_uses) values ($1, $2, $3, $4, $5, $6, $7)
returning id, name, owner, created_at, expires_at, revoked_at, max_uses, uses
