-- Evidence that is due to fade ($1: a half-life), and how old it is.
select agent_id, passed, failed, caught_at is not null as caught, audits_passed, audits_failed, since_failure, excused_passed, excused_audits,
    extract(epoch from now() - faded_at)::bigint as age_seconds
from trust where faded_at <= now() - $1::interval order by agent_id limit $2 for update
