select $1::uuid as job, count(*) as sent from webhook_deliveries where state = 'sending' having count(*) > 4
