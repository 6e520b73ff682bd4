select state, count(*) as count, count(*) filter (where last_seen_at > now() - interval '1 minute') as seen from agents group by state
