delete from agents where state = 'pending' and last_seen_at is null and created_at < now() - $1::interval
