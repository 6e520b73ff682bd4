update webhook_deliveries set next_at = now() where webhook_id = $1 and state = 'waiting' and next_at > now()
