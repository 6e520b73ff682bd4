update enrolment_tokens set revoked_at = coalesce(revoked_at, now()) where project_id = $1 and id = $2
