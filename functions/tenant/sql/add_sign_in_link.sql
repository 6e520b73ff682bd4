insert into sign_in_links (secret_sha256, key_id) values ($1, $2)
