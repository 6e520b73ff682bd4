-- Has windows of agents ($2, $3) be closed together: they spend the part $4 of the target error, and the share $5 of each is audited.
with due as materialized (
    select w.job_id, w.agent_id, w.number from windows w join unnest($2::uuid[], $3::bigint[]) as t (agent, number) on w.agent_id = t.agent and w.number = t.number
    where w.job_id = $1 and w.state in ('open', 'closing') order by w.agent_id, w.number for update of w
)
update windows w set state = 'closing', together = $4, share = $5 from due
where w.job_id = due.job_id and w.agent_id = due.agent_id and w.number = due.number
