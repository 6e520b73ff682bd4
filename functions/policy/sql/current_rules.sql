select name, version, spec, created_by, created_at from guardian_rules where current and spec is not null order by name
