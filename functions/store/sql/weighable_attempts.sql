-- An attempt in a submission that is not weighed yet still counts as out.
select a.shard, a.agent_id, a.status, a.outcome
from attempts a join submissions s on s.id = a.submission_id
where a.job_id = $1 and a.shard = any ($2) and (s.verified_at is not null or s.id = $3)
order by a.shard, a.agent_id
