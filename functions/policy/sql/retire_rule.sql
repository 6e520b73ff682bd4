update guardian_rules set current = false where name = $1 and current
