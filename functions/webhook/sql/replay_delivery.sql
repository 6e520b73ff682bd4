update webhook_deliveries set state = 'waiting', tries = 0, next_at = now(), ended_at = null where id = $1
