-- What projects have, beside their own values, for the metrics.
select u.open_jobs, u.open_shards, u.results, u.events, u.open_uploads, u.object_bytes, p.quotas from project_usage u join projects p on p.id = u.project_id
