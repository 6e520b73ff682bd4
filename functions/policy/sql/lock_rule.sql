select name, version, spec, created_by, created_at from guardian_rules where name = $1 and current for update
