-- The busiest projects first: what waits for people is looked for in so many.
select p.id, p.name, coalesce(u.open_jobs, 0) as open_jobs, coalesce(u.open_shards, 0) as open_shards, coalesce(u.object_bytes, 0) as object_bytes
from projects p left join project_usage u on u.project_id = p.id
order by coalesce(u.open_jobs, 0) desc, p.id limit $1
