select id, rule, kinds, subject, reason, created_by, created_at, until, ended_by, ended_at from guardian_overrides
where id > $1 order by id limit $2
