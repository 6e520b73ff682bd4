insert into workflow_runs (id, workflow_id, version, parameters, state, started_by) values ($1, $2, $3, $4::jsonb, 'running', $5)
