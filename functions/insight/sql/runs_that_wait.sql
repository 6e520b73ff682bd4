-- Runs of workflows that wait for something of a job that has ended: for a further aggregation of it.
select run_id from workflow_run_steps where job_id = $1 and state = 'running'
