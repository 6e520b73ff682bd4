insert into runtimes (id, name, digest, platform, python, bytes, files, pieces, created_by) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
