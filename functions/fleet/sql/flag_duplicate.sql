update agents set duplicate_at = now(), duplicate_address = $2 where id = $1
