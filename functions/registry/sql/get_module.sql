select id, name, version, kind, digest, size, created_at, description, deprecated_at, deprecation from modules
where name = $1 and ($2 = 0 or version = $2) order by version desc limit 1
