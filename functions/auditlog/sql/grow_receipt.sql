update receipts set run = $2, last_shard = $3, leaves = $4, peaks = $5, signed_agents = $6, signed_submissions = $7, signed_results = $8, signed_peaks = $9, signatures_making = $10
where job_id = $1
