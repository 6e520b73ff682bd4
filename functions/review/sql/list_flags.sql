select f.id, f.job_id, fn.name as function_name, coalesce(f.function_version, j.function_version) as function_version,
    f.shard, f.agent_id, f.kind, f.rule, f.decision, f.detail, f.times, f.created_at, f.last_at,
    f.resolved_at, f.resolved_by, f.resolution, f.digest, f.reason, f.revision
from flags f
left join jobs j on j.id = f.job_id
left join functions fn on fn.id = coalesce(f.function_id, j.function_id)
where f.id > $1 and ($3::uuid is null or f.job_id = $3) and ($4 = '' or $4 = 'resolved' and f.resolved_at is not null or $4 = 'open' and f.resolved_at is null)
    and ($5 = '' or f.kind = $5) and ($6 = '' or f.rule = $6) and ($7::uuid is null or f.agent_id = $7) and ($8 = '' or fn.name = $8)
order by f.id limit $2
