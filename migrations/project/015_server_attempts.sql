-- How often the server has executed shards of a job is shown with the job: those are few among its attempts.
create index attempts_of_server on attempts (job_id) where agent_id = '00000000-0000-0000-0000-000000000000';
