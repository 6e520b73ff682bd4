select a.*, (select volumes from agents x where x.id = a.id) as volumes from agents_shown a where id = $1
