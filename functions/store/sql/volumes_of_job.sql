-- The volumes that a job's function wants.
select coalesce(v.manifest -> 'volumes', '[]')
from jobs j join function_versions v on v.function_id = j.function_id and v.version = j.function_version
where j.id = $1
