-- What a call has taken takes the place of what was set aside for it; one that was not made ($5) is given back.
update model_usage set calls = greatest(0, calls - $5::bigint), tokens = greatest(0, tokens - $3::bigint + $4::bigint) where project_id = $1 and day = $2
