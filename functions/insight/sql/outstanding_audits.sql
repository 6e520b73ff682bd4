select (select count(*) from rechecks where job_id = $1) as rechecks,
    (select jsonb_build_object('code', h.code, 'reason', h.reason) from recheck_holds h where h.job_id = $1) as hold,
    (select count(*) from audits where job_id = $1 and state = 'drawn') as audits,
    coalesce((select b.trouble from recheck_batches b where b.trouble <> '' order by b.trouble_since limit 1), '') as trouble
