update rules set workflow_id = $2 where id = $1
