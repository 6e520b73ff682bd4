update ostraka.sessions set seen_at = now() where id = $1
