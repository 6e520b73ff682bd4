delete from sign_in_links where created_at < now() - $1::interval
