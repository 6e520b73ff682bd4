select exists (select from audit_checkpoints where size = $1 and root = $2)
