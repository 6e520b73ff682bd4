update audit a set leaf = x.leaf from unnest($1::bigint[], $2::bigint[]) as x(seq, leaf) where a.seq = x.seq and a.leaf is null
