update bulk_actions set state = 'running', detail = '', failed = 0, ended_at = null, principal = $2::jsonb where id = $1
