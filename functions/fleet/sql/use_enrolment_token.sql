-- An operator may have lowered how many agents may join with one token since it was made.
update enrolment_tokens t set uses = uses + 1 from projects p
where token_sha256 = $1 and p.id = t.project_id and (max_uses is null or uses < max_uses)
    and uses < coalesce(nullif((p.quotas ->> 'agents_per_token')::bigint, 0), 9223372036854775807)
