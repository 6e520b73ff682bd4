-- Not where a page was taken back since it was read: the preview may hold what does not stand any more.
update aggregations set preview_value = $3, preview_count = $4, preview_pages = $5, preview_at = now() where job_id = $1 and run = $2 and state = 'folding' and pages_folded >= $5
