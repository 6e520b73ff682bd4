select public_key from agents where id = $1
