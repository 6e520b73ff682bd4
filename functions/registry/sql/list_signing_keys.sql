select generation, public_key, signature, created_at from signing_keys order by generation
