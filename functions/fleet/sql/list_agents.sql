select * from agents_shown where id > $1 and ($3::text = '' or state = $3) order by id limit $2
