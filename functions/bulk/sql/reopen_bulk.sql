update bulk_actions set state = 'running', detail = '', failed = 0, ended_at = null, turn = turn + 1, principal = $2::jsonb where id = $1 returning turn
