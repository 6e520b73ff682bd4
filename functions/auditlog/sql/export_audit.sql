select leaf, seq, at, actor, action, subject, detail, pruned_at is not null as pruned from audit where leaf > $1 and leaf < $2 and (leaf >= $3 and leaf < $4 or action = 'audit.restart') order by leaf
