select state from agents where id = $1 for update
