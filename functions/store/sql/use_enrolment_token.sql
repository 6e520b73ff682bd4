update enrolment_tokens set uses = uses + 1 where token_sha256 = $1 and (max_uses is null or uses < max_uses)
