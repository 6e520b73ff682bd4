update objects set look_at = now() + $3::interval where project_id = $1 and digest = $2
