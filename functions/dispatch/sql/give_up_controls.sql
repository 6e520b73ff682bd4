-- Gives these controls ($2) up: nobody is left to give a second opinion of them. Returns what was said to those that somebody has answered otherwise.
with over as (
    update controls c set state = 'unsettled'
    where c.job_id = $1 and c.place = any ($2) and c.state = 'waiting'
      and not exists (select from control_loans l where l.job_id = c.job_id and l.place = c.place and (l.reported_at is null or l.verdict is null))
    returning c.job_id, c.place, c.number, c.output
)
select o.place, o.number, o.output as known, l.agent_id, l.status, l.output
from over o join control_loans l on l.job_id = o.job_id and l.place = o.place
where exists (select from control_loans w where w.job_id = o.job_id and w.place = o.place and w.verdict = 'wrong')
order by o.place, l.reported_at, l.lease_id
