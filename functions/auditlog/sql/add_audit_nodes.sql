insert into audit_nodes (number, hash) select $1::bigint + x.place - 1, x.hash from unnest($2::bytea[]) with ordinality as x(hash, place)
