delete from recheck_holds where job_id = $1
