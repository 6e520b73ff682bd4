-- The flag that the decision was taken about ($4) is written by itself.
update flags set resolved_at = now(), resolved_by = $3, resolution = 'dismiss', reason = $2, revision = revision + 1
where agent_id = $1 and kind = 'agent_caught' and resolved_at is null and id <> $4
