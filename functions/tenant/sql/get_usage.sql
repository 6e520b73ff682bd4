select coalesce(u.open_jobs, 0) as open_jobs, coalesce(u.open_shards, 0) as open_shards, coalesce(u.results, 0) as results, coalesce(u.events, 0) as events,
    coalesce(u.open_uploads, 0) as open_uploads,
    coalesce(u.object_bytes, 0) as object_bytes, p.quotas
from projects p left join project_usage u on u.project_id = p.id where p.id = $1
