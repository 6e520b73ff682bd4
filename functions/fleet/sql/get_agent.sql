select * from agents_shown where id = $1
