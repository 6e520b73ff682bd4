-- Agents that did not take the version for want of this signature may be asked again at once.
with asked_again as (
    delete from refusals r using functions f, function_versions v
    where f.name = $1 and v.function_id = f.id and v.digest = $2 and r.function_id = f.id and r.function_version = v.version
        and r.code in ('unsigned', 'untrusted_key', 'replaced_key', 'bad_signature')
)
update function_versions v set signature = $3, signed_by = $4
from functions f where f.id = v.function_id and f.name = $1 and v.digest = $2
