-- The owner of agents that join with it: the one that it names, else the token itself.
select project_id, coalesce(nullif(owner, ''), 'token:' || id) as owner from ostraka.enrolment_tokens
where token_sha256 = $1 and revoked_at is null and (expires_at is null or expires_at > now())
