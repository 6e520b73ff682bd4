insert into function_versions (function_id, version, digest, size, manifest)
select $1, coalesce(max(version), 0) + 1, $2, $3, $4::jsonb from function_versions where function_id = $1
on conflict (function_id, digest) do nothing
