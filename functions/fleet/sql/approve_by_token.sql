update agents set state = 'active', state_reason = '', state_at = now() where id = $1 and state = 'pending'
