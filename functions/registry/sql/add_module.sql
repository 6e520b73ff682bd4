insert into modules (id, name, version, kind, digest, size, description)
select $1, $2, coalesce(max(version), 0) + 1, $3, $4, $5, $6 from modules where name = $2
on conflict (name, digest) do nothing
