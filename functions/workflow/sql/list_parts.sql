select p.number, p.first::text, p.last::text, p.state, p.job_id, p.shards, p.count, p.error, p.items, j.state as job_state, j.error as job_error
from workflow_parts p left join jobs j on j.id = p.job_id
where p.run_id = $1 order by p.number, p.first
