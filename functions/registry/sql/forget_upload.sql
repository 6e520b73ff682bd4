delete from uploads where id = $1
