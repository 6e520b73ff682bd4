update bulk_items set state = 'waiting', code = '', message = '', settled_at = null where bulk_id = $1 and state = 'failed'
