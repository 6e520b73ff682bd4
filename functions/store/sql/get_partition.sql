select partition from jobs where id = $1 and state <> 'deleting'
