-- How much a job has left to do. The caller holds the job's lock.
select j.state, j.pages_total, coalesce(sum(p.open), 0)::bigint + (j.pages_total - count(p.number)) as open, coalesce(sum(p.provisional), 0)::bigint as provisional,
    a.run, a.pages_folded, a.state as aggregation
from jobs j
join aggregations a on a.job_id = j.id and a.run = j.run
left join pages p on p.job_id = j.id
where j.id = $1 group by j.id, a.job_id, a.run
