-- Deleting is what makes a link work once.
with link as (delete from sign_in_links where secret_sha256 = $1 and created_at > now() - $2::interval returning key_id)
select k.id as key_id, k.role, k.project_id from link join api_keys k on k.id = link.key_id
where k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
