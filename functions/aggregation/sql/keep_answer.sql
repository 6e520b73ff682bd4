update aggregations set state = 'finished', finished_at = now(), value = $3, object = $4, count = $5, summary = $6, left_out = $7, rows = $8, rows_object = $9,
    preview_value = null, preview_count = null, preview_pages = null, preview_at = null
where job_id = $1 and run = $2
