-- The jobs that ended first, of those that ended longer ago than $1, have at least 64 shards (as the index says, and archive.PackShards), and of
-- which nothing is under way.
select j.id from jobs j
where j.state in ('finished', 'failed') and j.pack_next is not null and j.finished_at < now() - $1::interval and j.shards_total >= 64
    and not exists (select from archives c where c.job_id = j.id and c.state <> 'failed')
    and not exists (select from aggregations where job_id = j.id and state = 'folding')
    and not exists (select from receipts r where r.job_id = j.id and r.making)
    and not exists (select from rechecks where job_id = j.id)
    and not exists (select from leases where job_id = j.id and state = 'open')
    and (j.finished_at < now() - interval '1 day' or exists (select from job_metrics m where m.job_id = j.id and m.metrics is not null))
order by j.finished_at limit $2
