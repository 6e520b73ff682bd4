delete from objects where project_id = $1 and digest = $2
