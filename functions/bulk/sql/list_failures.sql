select item, code, message from bulk_items where bulk_id = $1 and state = 'failed' order by number limit $2
