-- One row a page, its shards in their order. The codes are those of functions/jobs/map.go. Shards are made in their order, so that those which are
-- missing are the last.
select number / $4::bigint as page, array_agg(case state
        when 'open' then case when reasons is not null then 2 when lent > 0 then 1 else 0 end
        when 'accepted' then case when awaits is not null then 3 else 4 end
        when 'review' then 5 when 'failed' then 6 else 7 end::smallint order by number) as values
from shards where job_id = $1 and number >= $2 and number < $3 group by 1 order by 1
