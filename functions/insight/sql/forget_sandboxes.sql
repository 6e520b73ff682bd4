delete from sandboxes where seen_at < now() - $1::interval
