-- Shards that were lent as controls may be lent again: those whose control is not settled yet, to another agent as the same control, and the others
-- once nobody has the control any more, so that no two agents find two inputs under one number. The shards are locked. An answer
-- that came while others were compared is judged first, by the step that came with it.
with done as (
    update control_loans l set released = true
    from controls c
    where l.job_id = $1 and l.place = any ($2) and l.verdict is not null and not l.released and c.job_id = l.job_id and c.place = l.place
      and (c.state = 'waiting' or not exists (select from control_loans o where o.job_id = l.job_id and o.place = l.place and o.reported_at is null))
    returning l.place
),
counted as (
    select place, count(*)::int as n from done group by place
)
update shards s set lent = s.lent - counted.n, wanted = case when s.state = 'open' then s.wanted + counted.n else s.wanted end
from counted where s.job_id = $1 and s.number = counted.place
