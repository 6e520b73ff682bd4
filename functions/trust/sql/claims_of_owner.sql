-- What the owner of the agent $2, as it worked for the job $1, has brought in the project's jobs of the last $3: results, those of them
-- without an answer where somebody else gave one, and in how many jobs. An agent without an owner stands for itself.
with mine as (
    select owner from lease_cursors where job_id = $1 and agent_id = $2
),
kin as (
    select c.job_id, c.results, c.unconfirmed from lease_cursors c, mine where mine.owner <> '' and c.owner = mine.owner
    union all
    select c.job_id, c.results, c.unconfirmed from lease_cursors c, mine where mine.owner = '' and c.agent_id = $2 and c.owner = ''
)
select coalesce(sum(k.unconfirmed), 0)::bigint as unconfirmed, coalesce(sum(k.results), 0)::bigint as results,
    count(distinct k.job_id) filter (where k.unconfirmed > 0) as jobs
from kin k join jobs j on j.id = k.job_id where j.created_at > now() - $3::interval
