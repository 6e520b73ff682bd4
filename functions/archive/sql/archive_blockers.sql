-- What keeps an ended job from becoming an archive: what people have to look at (that of an owner's share asks nothing of them), and what is still under way. Jobs that ended more than a day
-- ago and have no metrics ended before there were any.
select (select count(*) from flags where job_id = j.id and resolved_at is null and kind <> 'share') as flags,
    exists (select from aggregations where job_id = j.id and state = 'folding' and (j.state <> 'cancelled' or created_at > j.finished_at)) as folding,
    exists (select from receipts r left join audit a on a.seq = r.record_seq where r.job_id = j.id and (r.making or a.leaf is null)) as receipt,
    exists (select from workflow_run_steps s join workflow_runs r on r.id = s.run_id where s.job_id = j.id and r.state in ('running', 'paused')) as awaited,
    -- A run that was cancelled folds what has ended, too.
    exists (select from workflow_parts p where p.job_id = j.id and p.state = 'open') as unfolded,
    exists (select from rechecks where job_id = j.id) as rechecks,
    exists (select from leases where job_id = j.id and state = 'open') or exists (select from pages where job_id = j.id and open > 0) as settling,
    j.state <> 'cancelled' and j.finished_at > now() - interval '1 day'
        and not exists (select from job_metrics m where m.job_id = j.id and m.metrics is not null) as unmeasured
from jobs j where j.id = $1
