select count(*) from bulk_items where bulk_id = $1 and state <> 'done'
