select from webhooks where id = $1 for update
