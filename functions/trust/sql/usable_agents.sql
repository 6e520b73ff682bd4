-- The agents that may yet take shards of a job: not those that are caught or refuse its function ($3), not those that were not heard of for
-- so long ($4), and of a function in WebAssembly those with another meter than $5 neither.
select a.id, a.owner
from ostraka.agents_for($1, $2) a join ostraka.agents x on x.id = a.id left join ostraka.open_jobs j on j.job_id = $2
where a.isolated and (not coalesce(j.wasm, false) or x.meter = $5) and a.id <> all ($3) and a.last_seen_at > now() - $4::interval
order by a.id
