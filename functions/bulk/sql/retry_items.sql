update bulk_items set state = 'waiting', code = '', message = '' where bulk_id = $1 and state = 'failed'
