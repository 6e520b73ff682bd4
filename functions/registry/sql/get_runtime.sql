-- By its digest, or the newest of that name.
select id, name, digest, platform, python, bytes, files, pieces, created_by, created_at from runtimes
where digest = $1 or name = $1 order by created_at desc limit 1
