-- How heuristics do at a job's results: pages at which one fails, pages that were given up, what it said last, and whose results are
-- audited more.
select count(*) filter (where state = 'failed') as failing, count(*) filter (where state = 'given_up') as given_up, coalesce(max(failures) filter (where state = 'failed'), 0) as failures,
    coalesce((array_agg(heuristic || ': ' || error order by scored_at desc) filter (where error <> ''))[1], '') as error,
    (select count(*) from audit_raises where job_id = $1 and agent_id <> $2::uuid) as raised,
    exists (select from audit_raises where job_id = $1 and agent_id = $2::uuid) as all_raised
from page_scores where job_id = $1
