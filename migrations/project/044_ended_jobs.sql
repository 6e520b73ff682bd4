-- Retention deletes the jobs that ended first.
create index jobs_ended on jobs (finished_at) where state in ('finished', 'failed', 'cancelled');
