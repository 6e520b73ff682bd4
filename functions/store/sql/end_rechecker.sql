delete from ostraka.recheckers where server_id = $1
