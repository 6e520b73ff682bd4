-- The volumes that a job's function wants, and whether its audits are drawn by a secret of its own.
select coalesce(v.manifest -> 'volumes', '[]') as volumes, j.draws_sha256 is not null as committed
from jobs j join function_versions v on v.function_id = j.function_id and v.version = j.function_version
where j.id = $1
