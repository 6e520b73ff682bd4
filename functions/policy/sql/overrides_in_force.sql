select id, rule, kinds, subject, reason, created_by, created_at, until, ended_by, ended_at from guardian_overrides
where ended_at is null and until > $1 order by created_at, id limit $2
