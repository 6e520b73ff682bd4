-- What keeps the aggregation of a job from going on.
select a.trouble as text, a.tries, coalesce(a.aggregator ->> 'module', '') as module
from jobs j join aggregations a on a.job_id = j.id and a.run = j.run
where j.id = $1 and a.state = 'folding'
