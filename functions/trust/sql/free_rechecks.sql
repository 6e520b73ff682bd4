update rechecks set batch = null where batch = $1
