select distinct on (name) id, name, version, kind, digest, size, created_at from modules
where name > $1 order by name, version desc limit $2
