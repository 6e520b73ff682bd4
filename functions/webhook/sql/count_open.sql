select count(*) from webhook_deliveries where state in ('waiting', 'sending')
