insert into workflows (id, name, newest, created_by) values ($1, $2, 1, $3)
