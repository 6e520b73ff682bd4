-- $5: the file must be new; $6: its digest must be this one, where it is not ''.
insert into files (name, digest, size, updated_by)
select $1, $2, $3, $4 where $6::text = '' or exists (select from files where name = $1)
on conflict (name) do update set digest = excluded.digest, size = excluded.size, updated_at = now(), updated_by = excluded.updated_by
where not $5::boolean and ($6::text = '' or files.digest = $6)
returning name, digest, size, created_at, updated_at, updated_by
