-- What a call has taken takes the place of what was set aside for it.
update model_usage set tokens = greatest(0, tokens - $3::bigint + $4::bigint) where project_id = $1 and day = $2
