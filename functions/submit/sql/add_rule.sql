insert into rules (id, name, spec) values ($1, $2, $3::jsonb)
