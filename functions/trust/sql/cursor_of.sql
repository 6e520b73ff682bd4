-- Who an agent was when it was last lent shards of a job, and of which platform.
select owner, class from lease_cursors where job_id = $1 and agent_id = $2
