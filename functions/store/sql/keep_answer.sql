update jobs set aggregate_value = $2, aggregate_object = $3, aggregate_count = $4, aggregate_summary = $5 where id = $1
