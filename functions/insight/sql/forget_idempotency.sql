delete from idempotency_keys where created_at < now() - $1::interval
