select id, name, followups_enabled, agents_open, min_isolation, monitor, heuristics, weight, recheck_seconds, revision, created_at from projects where id > $1 order by id limit $2
