select coalesce(b.program, '') as program, coalesce(extract(epoch from now() - b.taken_at), 0)::float8 as age,
    coalesce(extract(epoch from now() - a.last_archived_time), 0)::float8 as archived
from pg_stat_archiver a left join lateral (select program, taken_at from ostraka.backups order by taken_at desc limit 1) b on true
