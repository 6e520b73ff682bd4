delete from agents where state = 'pending' and coalesce(last_seen_at, created_at) < now() - $1::interval
