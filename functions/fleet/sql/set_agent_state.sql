update agents set state = $2, state_reason = $3, state_at = now() where id = $1
