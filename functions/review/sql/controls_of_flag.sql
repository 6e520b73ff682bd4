-- The controls of a job that came to nothing as $2 says, with what was known about them, in the order in which the job brought them, and how many
-- there are. Of those that found nothing out, those alone that somebody has answered otherwise: nobody is told of the others.
select c.place, c.number, coalesce(c.input, s.input) as input, c.input is null as own, c.output as known, encode(c.output_digest, 'hex') as digest,
    j.partition, count(*) over () as total
from controls c join jobs j on j.id = c.job_id left join shards s on s.job_id = c.job_id and s.number = c.place
where c.job_id = $1 and c.state = $2
  and (c.state = 'void' or exists (select from control_loans w where w.job_id = c.job_id and w.place = c.place and w.verdict = 'wrong'))
order by c.number, c.place limit $3
