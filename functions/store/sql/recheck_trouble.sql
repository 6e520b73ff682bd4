select count(*) as servers, count(*) filter (where trouble = '') as able, coalesce(max(trouble), '') as trouble, min(trouble_since) as since
from ostraka.recheckers where seen_at > now() - $1::interval
