delete from files where name = $1 and ($2::text = '' or digest = $2)
