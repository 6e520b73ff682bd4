-- Whether a step of turn $2 may do one item more; $3 is the key with which it was begun, null: an identity provider vouched for them.
select state = 'running' and turn = $2
    and ($3::uuid is null or exists (select from api_keys where id = $3 and revoked_at is null and (expires_at is null or expires_at > now())))
from bulk_actions where id = $1
