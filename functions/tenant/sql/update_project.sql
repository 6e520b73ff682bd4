update projects set followups_enabled = coalesce($2, followups_enabled), agents_open = coalesce($4, agents_open),
    min_isolation = coalesce($5, min_isolation), monitor = coalesce($6::jsonb, monitor), weight = coalesce($8, weight), recheck_seconds = coalesce($9, recheck_seconds),
    keep_jobs_days = coalesce($10, keep_jobs_days), archive_jobs_days = case when $11::int is null then archive_jobs_days when $11 >= 0 then $11 end,
    audit_days = case when $12::int is null then audit_days when $12 >= 0 then $12 end,
    heuristics = case when $7::jsonb ->> 'default' = 'true' then null else coalesce($7::jsonb, heuristics) end, revision = revision + 1
where id = $1 and revision = $3
