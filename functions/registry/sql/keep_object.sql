-- Of an object that is stored, or is about to be. grown: by how many bytes more of it count than before.
with before as (
    select size from objects where project_id = $1 and digest = $2
)
insert into objects (project_id, digest, size) values ($1, $2, $3)
on conflict (project_id, digest) do update set
    size = greatest(objects.size, excluded.size), look_at = greatest(objects.look_at, now() + interval '1 day')
returning case when xmax = 0 then size else size - coalesce((select size from before), size) end as grown
