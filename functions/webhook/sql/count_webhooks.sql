select count(*) from webhooks
