delete from bulk_actions where state <> 'running' and ended_at < now() - $1::interval
