select item, 0::bigint as revision from bulk_items where bulk_id = $1 and state = 'done' order by number
