select reopened, open = 0 and review = 0 as settled from pages where job_id = $1 and number = $2
