insert into signing_keys (generation, public_key, signature) values ($1, $2, $3)
