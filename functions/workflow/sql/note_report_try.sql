-- Why a module could not make a document yet, for people; tries in a row are those that it has asked for.
update workflow_run_steps set error = $3, tries = tries + $4 where run_id = $1 and number = $2 and state = 'waiting' returning tries
