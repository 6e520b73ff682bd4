delete from rules where id = $1 and revision = $2
