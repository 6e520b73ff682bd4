select number from pages where job_id = $1 and number >= $2 and open = 0 and review = 0 order by number limit $3
