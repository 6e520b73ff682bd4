select distinct project_id from ostraka.webhook_secrets
