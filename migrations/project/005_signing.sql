-- The keys with which the project's owner vouches for bundles; only public halves are known here. Each is signed by the one before
-- it, or by itself where it is the first or replaces one that was lost. The newest alone counts.
create table signing_keys (
    generation integer primary key check (generation between 1 and 64),
    public_key bytea not null unique check (octet_length(public_key) = 32),
    signature  bytea not null check (octet_length(signature) = 64),
    created_at timestamptz not null default now()
);

-- The signature over the bundle, and the key that made it.
alter table function_versions
    add column signature bytea check (octet_length(signature) = 64),
    add column signed_by integer references signing_keys,
    add check ((signature is null) = (signed_by is null));
