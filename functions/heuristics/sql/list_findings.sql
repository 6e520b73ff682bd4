select d.id, d.heuristic, f.name as function, d.function_version as version, d.job_id as job, d.shard, d.agent_id as agent, d.file, d.score, d.labels, d.explanation,
    d.places, d.actions, d.created_at
from findings d join functions f on f.id = d.function_id
where d.id > $1 and ($3 = '' or f.name = $3) and ($4::int = 0 or d.function_version = $4) and ($5::uuid is null or d.job_id = $5)
    and ($6 = '' or d.heuristic = $6)
order by d.id limit $2
