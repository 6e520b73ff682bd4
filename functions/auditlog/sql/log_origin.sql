select origin from audit_restarts order by leaf desc limit 1
