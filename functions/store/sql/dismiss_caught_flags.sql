update flags set resolved_at = now(), resolved_by = 'server', resolution = 'dismiss', reason = $2, revision = revision + 1
where agent_id = $1 and kind = 'agent_caught' and resolved_at is null
