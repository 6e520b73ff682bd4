select id, name, digest, platform, python, bytes, files, pieces, created_by, created_at from runtimes
where id > $1 and ($2 = '' or name = $2) order by id limit $3
