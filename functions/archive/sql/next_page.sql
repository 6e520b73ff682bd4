select number from pages where job_id = $1 order by number limit 1
