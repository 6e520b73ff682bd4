insert into workflow_versions (workflow_id, version, digest, definition, functions, pushed_by) values ($1, $2, $3, $4, $5::jsonb, $6)
