select size, root, note, signed_at from audit_checkpoints order by size desc limit 1
