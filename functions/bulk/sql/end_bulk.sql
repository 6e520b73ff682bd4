update bulk_actions set state = $2, detail = $3, ended_at = now() where id = $1 and state = 'running'
