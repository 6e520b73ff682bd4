select id, name, state, state_reason, isolation, platform, created_at, last_seen_at from agents where id > $1 order by id limit $2
