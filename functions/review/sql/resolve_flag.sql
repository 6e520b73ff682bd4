update flags set resolved_at = now(), resolved_by = $3, resolution = $4, digest = $5, reason = $6, revision = revision + 1
where id = $1 and revision = $2
