select name, digest, size from files where name = any ($1)
