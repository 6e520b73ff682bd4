-- A batch that was cut off begins anew.
with gone as (
    delete from ostraka.recheck_runs where seen_at < now() - interval '1 hour' and batch <> $1
)
insert into ostraka.recheck_runs as r (batch, project_id, job_id, function, version, shards) values ($1, $2, $3, $4, $5, $6)
on conflict (batch) do update set job_id = $3, function = $4, version = $5, shards = $6, started_at = now(), seen_at = now()
