-- For how long ($1) the rest of the transaction may run a statement.
select set_config('statement_timeout', $1, true)
