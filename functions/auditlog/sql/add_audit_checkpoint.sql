insert into audit_checkpoints (size, root, note) values ($1, $2, $3)
