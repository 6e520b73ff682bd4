select f.id as item, f.revision, '' as was from flags f
left join jobs j on j.id = f.job_id
left join functions fn on fn.id = coalesce(f.function_id, j.function_id)
where f.resolved_at is null and ($2::uuid[] is null or f.id = any ($2)) and ($3 = '' or f.kind = $3) and ($4 = '' or f.rule = $4)
    and ($5 = '' or fn.name = $5) and ($6::uuid is null or f.job_id = $6) and ($7::uuid is null or f.agent_id = $7)
order by f.id limit $1
