select digest from objects where project_id = $1 and look_at < now() order by look_at limit $2
