-- A lease has ended: what it was lent of controls without an answer is lent no more. $2: it died with them. Returns their places, and whether leases of
-- $3 hands have died with the control by now: its shard must not suffer from it. One hand alone cannot bring that about.
with gone as (
    delete from control_loans where lease_id = $1 and reported_at is null returning job_id, place, hand
),
noted as (
    update controls c set lost_by = array_append(c.lost_by, gone.hand)
    from gone where $2::boolean and c.job_id = gone.job_id and c.place = gone.place and gone.hand <> all (c.lost_by)
)
select g.place, $2::boolean and c.state = 'waiting'
    and cardinality(c.lost_by) + (g.hand <> all (c.lost_by))::int >= $3::int as over
from gone g join controls c on c.job_id = g.job_id and c.place = g.place order by g.place
