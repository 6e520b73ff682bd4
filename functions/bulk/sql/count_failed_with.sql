select count(*) from bulk_items where bulk_id = $1 and state = 'failed' and code = $2
