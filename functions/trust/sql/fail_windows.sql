-- Drops the windows of an agent that have not passed, in all jobs.
with due as (
    select job_id, agent_id, number from windows where agent_id = $1 and state in ('open', 'closing') order by job_id, number for update
)
update windows w set state = 'failed' from due where w.job_id = due.job_id and w.agent_id = due.agent_id and w.number = due.number
