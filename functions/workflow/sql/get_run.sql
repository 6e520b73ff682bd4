select r.id, w.name as workflow, r.version, v.digest, v.definition, v.functions, v.modules, v.files, r.parameters, r.state, r.error, r.revision, r.started_by, r.started_at, r.ended_at
from workflow_runs r
join workflows w on w.id = r.workflow_id
join workflow_versions v on v.workflow_id = r.workflow_id and v.version = r.version
where r.id = $1
