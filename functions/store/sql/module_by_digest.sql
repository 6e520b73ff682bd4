select id, name, version, kind, digest, size, created_at from modules where name = $1 and digest = $2
