with gone as (
    delete from ostraka.recheckers where seen_at < now() - $6::interval and server_id <> $1
)
insert into ostraka.recheckers as r (server_id, level, image, interpreter, trouble, trouble_since, volumes)
values ($1, $2, $3, $4, $5, case when $5 <> '' then now() end, $7::jsonb)
on conflict (server_id) do update
    set level = $2, image = $3, interpreter = $4, seen_at = now(), trouble = $5, volumes = excluded.volumes,
        trouble_since = case when $5 = '' then null else coalesce(r.trouble_since, now()) end
