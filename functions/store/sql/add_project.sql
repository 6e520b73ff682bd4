insert into projects (id, name) values ($1, $2)
