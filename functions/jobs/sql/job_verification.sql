-- What speaks for the results of a job with a bound. Audits are few of its shards, and events few of its pages.
select a.drawn, a.passed, a.failed, a.void, a.pending, s.executions as rechecks, e.reopened, i.incidents, i.questionable
from (
    select count(*) as drawn, count(*) filter (where state = 'passed') as passed, count(*) filter (where state = 'failed') as failed,
        count(*) filter (where state = 'void') as void, count(*) filter (where state = 'drawn') as pending
    from audits where job_id = $1
) a, (
    select count(*) as executions from attempts where job_id = $1 and agent_id = '00000000-0000-0000-0000-000000000000'
) s, (
    select coalesce(sum((data ->> 'shards')::bigint), 0)::bigint as reopened from events where job_id = $1 and type = 'reopened' and data ? 'agent'
) e, (
    select count(*) as incidents, coalesce(sum(shards), 0)::bigint as questionable from incidents where job_id = $1
) i
