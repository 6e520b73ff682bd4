-- Windows of a job that are open, or closed by their size and not drawn from yet.
select agent_id, number from windows where job_id = $1 and (state = 'open' or state = 'closing' and audits = 0) and results > 0 order by agent_id, number
