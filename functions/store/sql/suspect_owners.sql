-- Owners of whose agents so many were caught, and what is known about all agents of each together.
select owner, count(*) filter (where caught_at is not null) as caught, max(caught_at) as caught_at, sum(passed)::bigint as passed,
    sum(failed)::bigint as failed, sum(since_failure)::bigint as since_failure, sum(vouched)::bigint as vouched
from trust where owner in (select owner from trust where caught_at is not null and owner <> '' group by owner having count(*) >= $1::bigint)
group by owner
