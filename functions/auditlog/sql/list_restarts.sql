select leaf, record from audit_restarts order by leaf
