delete from sessions where created_at < now() - $1::interval
