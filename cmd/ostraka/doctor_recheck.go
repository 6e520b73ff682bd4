//go:build linux

package main

import (
	"context"
	"errors"
	"time"
)

// doctorRecheckWait is how long `ostraka doctor` waits for a sandbox: the interpreter may have to be unpacked and an image to be made.
const doctorRecheckWait = 3 * time.Minute

// examineRechecks opens the sandbox in which the server would execute shards again.
func examineRechecks(ctx context.Context, config serverConfig) []diagnosis {
	const check = "rechecks"
	if !config.rechecks() {
		return []diagnosis{fine(check, "not on this server")}
	}
	ctx, cancel := context.WithTimeout(ctx, doctorRecheckWait)
	defer cancel()
	made, err := tryRechecker(ctx, config)
	switch {
	case err == nil:
		return []diagnosis{fine(check, "shards are executed in %s", made)}
	case config.Recheck.Sandbox == recheckAuto:
		return []diagnosis{warned(check, "start a Docker daemon, or run ostraka agent doctor; without a sandbox other servers or agents do it", "this server would execute no shards: %v", err)}
	case config.Recheck.Sandbox == recheckDocker:
		return []diagnosis{failed(check, "check --docker-host (or DOCKER_HOST), and that this user may speak to the daemon; or choose another --recheck-sandbox", "%v", err)}
	}
	return []diagnosis{failed(check, "run ostraka agent doctor, which says what is missing; or choose another --recheck-sandbox", "%v", err)}
}

// tryRechecker opens the sandbox, proves it and closes it again.
func tryRechecker(ctx context.Context, config serverConfig) (made string, err error) {
	dir, err := makeRecheckDir(config)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, dir.remove()) }()
	config.Recheck.Warm = 0
	x, err := chooseRechecker(ctx, config, dir.path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if err := x.Health(ctx); err != nil {
		return "", err
	}
	return x.Describe().String(), nil
}
