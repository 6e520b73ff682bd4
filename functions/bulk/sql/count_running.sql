select count(*) from bulk_actions where project_id is not distinct from $1::uuid and state = 'running'
