insert into guardian_approvals (id, kind, subject, digest, facts, asked, layer, rule, rule_version, risk, reason, job, requested_by, expires_at)
values ($1, $2, $3, $4, $5::jsonb, $6::jsonb, $7, $8, $9, $10, $11, $12, $13, $14)
