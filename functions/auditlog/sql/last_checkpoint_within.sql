select note from audit_checkpoints where size > $1 and size <= $2 order by size desc limit 1
