select r.state, r.revision, w.name as workflow from workflow_runs r join workflows w on w.id = r.workflow_id where r.id = $1 for update of r
