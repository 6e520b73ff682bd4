-- The newest $2 versions are kept, and those that runs keep to.
delete from workflow_versions v
where workflow_id = $1 and version <= (select newest from workflows where id = $1) - $2
    and not exists (select from workflow_runs r where r.workflow_id = v.workflow_id and r.version = v.version)
