select seq, leaf, at, actor, action, subject, detail, pruned_at from audit where leaf = $1
