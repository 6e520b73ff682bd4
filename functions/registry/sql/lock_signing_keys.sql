-- Two registrations at once would both be the next key.
lock table signing_keys in share row exclusive mode
