-- Who submitted the first job of a job's chain.
select r.created_by from jobs j join jobs r on r.id = j.root_job where j.id = $1
