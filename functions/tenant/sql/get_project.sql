select id, name, followups_enabled, agents_open, min_isolation, monitor, heuristics, weight, recheck_seconds, keep_jobs_days, archive_jobs_days, revision, created_at from projects where id = $1
