select seq, at, actor, action, subject, detail from audit where leaf is null order by seq limit $1
