select secret from log_keys
