-- Steps $1 were carried out by the request that made them. One that a worker has taken up meanwhile is left to it.
delete from river.river_job where id = any ($1::bigint[]) and state in ('available', 'scheduled')
