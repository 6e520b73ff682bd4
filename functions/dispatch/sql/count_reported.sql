-- Results of a lease have come, $6 of them answers: these are to its agent's credit ($5 of the job $4), see verify.Loan.
with credited as (
    update lease_cursors set results = results + $2, credit = credit + $6, idle = 0, returned = 0, paused_until = null where job_id = $4 and agent_id = $5
)
update leases set reported = reported + $2, state = case when $3 then 'closed' else state end where id = $1
