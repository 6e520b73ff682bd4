select name, digest, size, created_at, updated_at, updated_by from files where name = $1
