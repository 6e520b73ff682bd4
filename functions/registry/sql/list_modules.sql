select distinct on (name) id, name, version, kind, digest, size, created_at, description, deprecated_at, deprecation from modules
where name > $1 order by name, version desc limit $2
