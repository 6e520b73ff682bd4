select f.id, f.job_id, fn.name as function_name, coalesce(f.function_version, j.function_version) as function_version,
    f.shard, f.agent_id, f.kind, f.rule, f.decision, f.detail, f.times, f.created_at, f.last_at,
    f.resolved_at, f.resolved_by, f.resolution, f.digest, f.reason, f.revision, f.item, f.samples
from flags f
left join jobs j on j.id = f.job_id
left join functions fn on fn.id = coalesce(f.function_id, j.function_id)
where f.id = $1
