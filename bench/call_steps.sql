-- When each step of job $1 began, in seconds since the epoch, by the clock of this machine, in their order.
select extract(epoch from j.created_at)::float8 as submit,
       extract(epoch from (select min(at) from events where job_id = j.id and type = 'running'))::float8 as split,
       extract(epoch from l.created_at)::float8 as lease,
       extract(epoch from s.received_at)::float8 as record,
       extract(epoch from s.verified_at)::float8 as verify,
       extract(epoch from (select min(at) from events where job_id = j.id and type = 'page'))::float8 as fold,
       extract(epoch from (select max(finished_at) from aggregations where job_id = j.id))::float8 as answer,
       extract(epoch from j.finished_at)::float8 as finish
from jobs j
join submissions s on s.job_id = j.id
join leases l on l.id = s.lease_id
where j.id = $1
order by s.received_at limit 1
