-- How many controls of a job that were settled each owner has answered, and how many of these answers are proven wrong. Those on which machines of
-- another platform differ say nothing.
select l.hand, count(*)::int as answers, count(*) filter (where l.contradicted)::int as contradicted
from control_loans l join controls c on c.job_id = l.job_id and c.place = l.place
where l.job_id = $1 and (l.verdict = 'right' or l.contradicted) and c.state in ('right', 'wrong')
group by l.hand
