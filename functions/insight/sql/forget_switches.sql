delete from kill_switches where off_at < now() - $1::interval
