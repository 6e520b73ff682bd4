delete from workflows where id = $1
