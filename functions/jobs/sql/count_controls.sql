-- What became of the controls of a job. No row: it brought none.
select count(*) as total, count(*) filter (where l.answers > 0) as given, count(*) filter (where c.state = 'right') as "right",
    count(*) filter (where c.state = 'wrong') as wrong, count(*) filter (where c.state = 'void') as void, count(*) filter (where c.state = 'unsettled') as unsettled,
    coalesce(sum(l.answers), 0)::bigint as answers
from controls c
cross join lateral (select count(*) as answers from control_loans where job_id = c.job_id and place = c.place and reported_at is not null) l
where c.job_id = $1 having count(*) > 0
