update agents set telemetry = $2::jsonb, last_seen_at = now() where id = $1
