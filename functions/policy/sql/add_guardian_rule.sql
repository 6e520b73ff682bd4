insert into guardian_rules (name, version, spec, created_by) values ($1, $2, $3::jsonb, $4)
returning name, version, spec, created_by, created_at
