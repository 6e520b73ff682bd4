insert into workflow_versions (workflow_id, version, digest, definition, functions, pushed_by, modules, files) values ($1, $2, $3, $4, $5::jsonb, $6, $7::jsonb, $8::jsonb)
