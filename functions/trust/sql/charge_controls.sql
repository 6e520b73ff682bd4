-- Holds all answers to controls of a job that are proven wrong against the hands $2, once.
update control_loans l set charged = true
from controls c
where l.job_id = $1 and l.hand = any ($2) and l.contradicted and not l.charged and c.job_id = l.job_id and c.place = l.place and c.state = 'wrong'
returning l.agent_id, l.place
