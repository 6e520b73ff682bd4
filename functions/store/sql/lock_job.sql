select state from jobs where id = $1 for update
