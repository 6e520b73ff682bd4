-- One heartbeat. It names no column that is indexed, so that a heartbeat costs a row version in the same page and nothing else.
update agents set last_seen_at = now(), shards_done = $2, idle_code = $3, idle_text = $4, idle_seconds = $5, host = coalesce($6::jsonb, host),
    projects = coalesce($7::uuid[], projects), isolation = coalesce($8, isolation), min_isolation = coalesce($9, min_isolation)
where id = $1
returning state, state_reason as reason, eula_digest, duplicate_at, duplicate_address
