select count(*) from guardian_rules where current and spec is not null
