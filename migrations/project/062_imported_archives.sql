-- Archives that came from another installation, or from another project: where they were made, what was sent, and the receipt, which is of the log
-- of that project.
alter table archives
    add column imported_from uuid,
    add column imported      text check (imported ~ '^[0-9a-f]{64}$'), -- the document as it was sent: who sends it again gets what is there
    add column receipt       text check (length(receipt) <= 16777216),
    add constraint archives_imported check ((imported_from is null) = (imported is null) and (receipt is null or imported is not null));

create or replace view job_archives as
select job_id, jsonb_build_object(
    'job', job_id, 'state', state, 'error', error, 'asked_by', asked_by, 'asked_at', asked_at, 'shards', results_rows,
    'results', case when results is not null then jsonb_build_object('digest', results, 'bytes', results_bytes) end,
    'document', case when document is not null then jsonb_build_object('digest', document, 'bytes', document_bytes) end,
    'written_at', written_at, 'archived_at', archived_at, 'imported_from', imported_from
) as archive
from archives;
