update agents set owner = $2 where id = $1
