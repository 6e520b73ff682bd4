-- Results that are in archives are counted as objects are.
select coalesce(sum(shards_total) filter (where c.job_id is null), 0)::bigint as results, coalesce(sum(event_seq), 0)::bigint as events
from jobs j left join archives c on c.job_id = j.id and c.state in ('removing', 'archived')
