select count(*) as servers, count(*) filter (where trouble = '') as able, coalesce(max(trouble), '') as trouble, min(trouble_since) as since,
    exists (select from river.river_job where state in ('available', 'scheduled', 'retryable') and queue = 'recheck') as waiting
from ostraka.recheckers where seen_at > now() - $1::interval
