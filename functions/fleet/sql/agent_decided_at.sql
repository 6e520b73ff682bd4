select (extract(epoch from state_at) * 1000000)::bigint from agents where id = $1
