select v.function_id, f.name, v.version, v.digest, v.size, v.manifest, v.created_at, v.signature, v.signed_by
from function_versions v join functions f on f.id = v.function_id where v.function_id = $1 and v.digest = $2
