select queue::text, kind::text, state::text, count(*) as count,
    coalesce(extract(epoch from max(now() - scheduled_at) filter (where state = 'available')), 0)::float8 as oldest
from river.river_job where state not in ('completed', 'cancelled') group by 1, 2, 3
