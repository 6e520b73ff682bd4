select id from workflows where name = $1 for update
