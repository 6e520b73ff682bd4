insert into ostraka.backups (digest, taken_at, program, database_bytes, objects, object_bytes, missing) values ($1, $2, $3, $4, $5, $6, $7)
