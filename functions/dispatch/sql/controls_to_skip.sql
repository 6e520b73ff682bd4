-- Shards of a job ($1) that are lent as controls for now and that agents of the hand $2 have answered as such: a second opinion is to be another
-- owner's. others: some owner works for the job that has not answered this one. waits: since the last answer, in seconds.
select c.place, extract(epoch from now() - max(l.reported_at))::float8 as waits,
    exists (
        select from lease_cursors o where o.job_id = $1
            and case when o.owner <> '' then 'owner ' || o.owner else 'agent ' || o.agent_id end <> all (array_agg(l.hand))
            and o.agent_id <> '00000000-0000-0000-0000-000000000000'
            and not coalesce((select t.caught_at is not null from trust t where t.agent_id = o.agent_id), false)
    ) as others
from controls c join control_loans l on l.job_id = c.job_id and l.place = c.place and l.reported_at is not null
where c.job_id = $1 and c.state = 'waiting'
group by c.place having bool_or(l.hand = $2)
order by c.place
