delete from webhook_events where id = any (array(select id from webhook_events where at < now() - $1::interval order by at limit $2))
