-- What is known about all agents of each of these owners together.
select owner, count(*) filter (where caught_at is not null) as caught, max(caught_at) as caught_at, sum(passed)::bigint as passed,
    sum(failed)::bigint as failed, sum(since_failure)::bigint as since_failure, sum(vouched)::bigint as vouched
from trust where owner = any ($1) and owner <> '' group by owner
