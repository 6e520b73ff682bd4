-- The agents that may yet take shards of a job: not those that are caught or refuse its function ($3), and not those that were not heard
-- of for so long ($4).
select a.id, a.owner from ostraka.agents_for($1, $2) a
where a.isolated and a.id <> all ($3) and a.last_seen_at > now() - $4::interval
order by a.id
