select * from shown_sandboxes where id = $1 and ($2::uuid is null or project = $2)
