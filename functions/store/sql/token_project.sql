select project_id from enrolment_tokens
where token_sha256 = $1 and revoked_at is null and (expires_at is null or expires_at > now())
