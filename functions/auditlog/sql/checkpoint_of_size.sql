select note from audit_checkpoints where size = $1
