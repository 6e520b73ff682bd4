select secret from project_secrets where project_id = $1
