select d.id, d.heuristic, f.name as function, d.function_version as version, d.job_id as job, d.shard, d.agent_id as agent, d.file, d.score, d.labels, d.explanation,
    d.places, d.actions, d.created_at
from findings d join functions f on f.id = d.function_id
where d.id = $1
