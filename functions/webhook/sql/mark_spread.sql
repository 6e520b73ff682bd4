update webhook_events set spread = true where id = any ($1::uuid[])
