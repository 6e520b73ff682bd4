select metrics from job_metrics where job_id = $1 and metrics is not null
