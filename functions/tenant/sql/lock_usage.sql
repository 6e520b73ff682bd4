-- Whoever submits a job waits: what it adds is counted after it.
insert into project_usage (project_id) values ($1) on conflict (project_id) do update set events = project_usage.events
