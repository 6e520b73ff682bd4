insert into archives (job_id, state, asked_by, results, results_bytes, results_rows, document, document_bytes, accepted, provisional, review, failed, cancelled,
    attempts, verification, written_at, archived_at, imported_from, imported, receipt)
values ($1, 'archived', $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, now(), now(), $15, $16, nullif($17, ''))
