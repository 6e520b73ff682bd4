insert into audit_restarts (leaf, origin, record) values ($1, $2, $3)
