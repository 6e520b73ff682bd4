delete from webhooks where id = $1
