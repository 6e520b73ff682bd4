update pages set open = open + $3, accepted = accepted + $4, review = review + $5, failed = failed + $6, cancelled = cancelled + $7,
    attempts = attempts + $8, provisional = provisional + $9
where job_id = $1 and number = $2
returning number, open, review, provisional
