select project_id, job_id from ostraka.leases where id = $1
