select r.*, j.validator, j.heuristics, j.rerun_of, j.priority from job_rows r join jobs j on j.id = r.id where r.id = $1
