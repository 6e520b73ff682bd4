-- Run 0 is the one whose answer the job shows.
select a.run, a.aggregator, a.state, a.pages_folded, a.run = j.run as current, j.state as job_state, j.shards_total, j.pages_total, a.beside
from jobs j join aggregations a on a.job_id = j.id and a.run = case when $2::int = 0 then j.run else $2::int end
where j.id = $1
