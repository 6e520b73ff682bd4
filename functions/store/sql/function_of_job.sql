select v.function_id, f.name, v.version, v.digest, v.size, v.manifest, v.created_at, v.signature, v.signed_by
from jobs j
join functions f on f.id = j.function_id
join function_versions v on v.function_id = j.function_id and v.version = j.function_version
where j.id = $1
