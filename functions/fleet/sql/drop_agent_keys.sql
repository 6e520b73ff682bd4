-- Those of an agent that gets a new one: whoever enrols again and again leaves one row and no more.
delete from api_keys where agent_id = $1
