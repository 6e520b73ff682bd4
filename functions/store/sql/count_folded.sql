-- The last page also moves the job on: from here on nothing but the merge is missing.
update jobs set pages_folded = pages_folded + 1,
    state = case when pages_folded + 1 = pages_total then 'aggregating' else state end
where id = $1 returning pages_folded as folded, pages_total as total
