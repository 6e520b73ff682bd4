-- The time is the database's: all servers measure the age of a nonce by one clock.
select secret, clock_timestamp() as now from server_secrets where purpose = 'enrolment'
