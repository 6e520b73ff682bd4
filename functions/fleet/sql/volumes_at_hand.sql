-- Who has the volumes $2 for functions of a project ($1): those that none of its agents has, how many agents have all of them, and whether a server
-- that was seen in the last $3 has those that are only read.
with members as (select x.volumes from ostraka.agents_for($1, null::uuid) a join ostraka.agents x on x.id = a.id)
select coalesce((
        select jsonb_agg(w order by w ->> 'name') from jsonb_array_elements($2::jsonb) w where not exists (select from members m where ostraka.has_volume(m.volumes, $1, w))
    ), '[]') as lacking,
    (select count(*) from members m where ostraka.has_volumes(m.volumes, $1, $2::jsonb)) as stocked,
    exists (select from ostraka.recheckers r where r.seen_at > now() - $3::interval and ostraka.has_volumes(r.volumes, $1, ostraka.volumes_read($2::jsonb))) as rechecks
