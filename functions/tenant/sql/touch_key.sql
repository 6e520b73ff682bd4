update ostraka.api_keys set used_at = now() where id = $1
