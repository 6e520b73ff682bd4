select id, name, spec, revision, created_at, updated_at from rules where workflow_id = $1 order by name
