-- A lease has ended: what it was lent of controls without an answer is lent no more. $2 is 1 where it died with them, and a control with which $3
-- leases died is given up: its shard must not suffer from it.
with gone as (
    delete from control_loans where lease_id = $1 and reported_at is null returning job_id, place
),
given_up as (
    update controls c set lost = c.lost + $2::int,
        state = case when c.state = 'waiting' and c.lost + $2::int >= $3::int then 'unsettled' else c.state end
    from gone where c.job_id = gone.job_id and c.place = gone.place
)
select place from gone order by place
