select number, item, revision from bulk_items where bulk_id = $1 and state = 'waiting' order by number limit $2
