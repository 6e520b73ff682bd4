select id, name, version, kind, digest, size, created_at from modules
where name = $1 and ($2 = 0 or version = $2) order by version desc limit 1
