insert into guardian_overrides (id, rule, kinds, subject, reason, created_by, created_at, until) values ($1, $2, $3, $4, $5, $6, $7, $8)
