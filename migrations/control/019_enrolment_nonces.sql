-- What servers know their own nonces by, and when that was given which an agent enrolled with last: an enrolment that was captured is no
-- good a second time.
create table server_secrets (
    purpose text primary key,
    secret  bytea not null check (octet_length(secret) = 32)
);
insert into server_secrets (purpose, secret) values ('enrolment', sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
alter table agents add column enrolled_nonce_at timestamptz;
