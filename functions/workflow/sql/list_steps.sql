select s.number, s.name, s.state, s.job_id, s.error, s.started_at, s.ended_at, j.state as job_state, j.error as job_error,
    s.fold, a.state as fold_state, a.error as fold_error, s.document, s.tries
from workflow_run_steps s
left join jobs j on j.id = s.job_id
left join aggregations a on a.job_id = s.job_id and a.run = s.fold
where s.run_id = $1 order by s.number
