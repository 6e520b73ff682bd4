select number, hash from audit_nodes where number = any($1::bigint[])
