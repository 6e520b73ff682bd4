-- What was said to these controls of a job ($2).
select place, agent_id as agent, coalesce(status, '') as status, output, coalesce(encode(output_digest, 'hex'), '') as digest, verdict = 'right' as known
from control_loans where job_id = $1 and place = any ($2) and verdict is not null order by place, reported_at, lease_id
