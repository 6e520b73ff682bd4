-- How many owners have answered controls of a job that are not void, and how many of them contradicted one whose known answer others gave.
select count(distinct l.hand) as owners, count(distinct l.hand) filter (where l.verdict = 'wrong' and c.state = 'wrong') as contradicted
from control_loans l join controls c on c.job_id = l.job_id and c.place = l.place
where l.job_id = $1 and l.verdict in ('right', 'wrong') and c.state <> 'void'
