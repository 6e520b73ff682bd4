-- A job over files of which not all are in kept_objects yet; one that was cancelled before, or is being deleted, reads no more of them.
select exists (select from jobs where partition ->> 'kind' = 'objects' and not inputs_kept and state <> 'deleting'
    and not (state = 'cancelled' and split_next < shards_total))
