with counted as (
    update jobs set controls = cardinality($2::bigint[]) where id = $1
)
insert into controls (job_id, place, input, output, output_digest, number)
select $1, c.place, c.input, c.output, c.digest, c.number
from unnest($2::bigint[], $3::bytea[], $4::bytea[], $5::bytea[]) with ordinality as c (place, input, output, digest, number)
