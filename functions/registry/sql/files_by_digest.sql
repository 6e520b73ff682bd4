select distinct digest, size from files where digest = any ($1)
