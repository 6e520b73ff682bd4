select id from webhook_events where not spread order by id limit $1
