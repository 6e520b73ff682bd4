-- The shards of a lease that were lent as controls, with their inputs, where these are not the shards' own, and what was said to them.
select l.place, c.input, l.outcome from control_loans l join controls c on c.job_id = l.job_id and c.place = l.place where l.lease_id = $1 order by l.place
