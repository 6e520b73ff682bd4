-- Windows of agents ($2) pass whose audits have all passed, when no audit of the agent's results in the job is under way any more.
with due as (
    select w.job_id, w.agent_id, w.number from windows w
    where w.job_id = $1 and w.agent_id = any ($2) and w.state = 'closing' and w.audits > 0 and w.passed >= w.audits
      and not exists (select from audits a where a.job_id = w.job_id and a.agent_id = w.agent_id and a.state = 'drawn')
    order by w.agent_id, w.number for update of w
)
update windows w set state = 'passed' from due
where w.job_id = due.job_id and w.agent_id = due.agent_id and w.number = due.number
returning w.agent_id, w.number
