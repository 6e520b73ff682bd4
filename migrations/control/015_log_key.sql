-- The key that signs the heads of the audit logs, where the operator gives the servers none from a file.
create table log_keys (
    one        boolean primary key default true check (one),
    secret     text not null,
    created_at timestamptz not null default now()
);

-- Who reads logs and receipts, and changes nothing.
alter table api_keys drop constraint api_keys_role_check;
alter table api_keys add constraint api_keys_role_check check (role in ('owner', 'submitter', 'viewer', 'auditor', 'operator', 'agent'));
