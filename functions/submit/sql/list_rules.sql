select id, name, spec, revision, created_at, updated_at from rules where id > $1 order by id limit $2
