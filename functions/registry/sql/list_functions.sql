select distinct on (f.name) v.function_id, f.name, v.version, v.digest, v.size, v.manifest, v.created_at, v.signature, v.signed_by
from functions f join function_versions v on v.function_id = f.id
where f.name > $1 order by f.name, v.version desc limit $2
