-- All that was said to the controls of a job to which something new was said, or that are settled and held up their shard until now.
select l.place, c.number, l.lease_id, l.agent_id, l.hand, l.class, l.status, l.output, encode(l.output_digest, 'hex') as output_digest, l.output_bytes, l.wall_us,
    l.outcome, l.verdict, l.contradicted, c.state, c.input, c.output as known, c.output_digest = l.output_digest as same
from control_loans l join controls c on c.job_id = l.job_id and c.place = l.place
where l.job_id = $1 and l.reported_at is not null
  and l.place in (select place from control_loans where job_id = $1 and reported_at is not null and not released)
order by l.place, l.reported_at, l.lease_id
