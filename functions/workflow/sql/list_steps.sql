select s.number, s.name, s.state, s.job_id, s.error, s.started_at, s.ended_at, j.state as job_state, j.error as job_error
from workflow_run_steps s left join jobs j on j.id = s.job_id
where s.run_id = $1 order by s.number
