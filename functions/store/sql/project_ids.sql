select id from projects where id > $1 order by id limit $2
