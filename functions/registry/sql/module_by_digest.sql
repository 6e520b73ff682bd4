select id, name, version, kind, digest, size, created_at, description, deprecated_at, deprecation from modules where name = $1 and digest = $2
