-- A decision about shards is one about every open flag on them; $7 is decided by itself.
update flags set resolved_at = now(), resolved_by = $3, resolution = $4, digest = $5, reason = $6, revision = revision + 1
where job_id = $1 and shard = any ($2) and kind in ('review', 'lost') and resolved_at is null and id <> $7
