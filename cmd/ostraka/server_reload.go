//go:build linux

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/tenant"
)

// liveKeys are the settings of a file that a server takes over while it runs. What each one changes is swapped as a whole, so that no
// request sees half of it. Of quotas it is all but doorQuotas.
func liveKeys() []string { return []string{"log.level", "quotas", "recheck.seconds"} }

// doorQuotas are the quotas that the API counts at its doors, with what it was started with.
func doorQuotas() []functions.QuotaName {
	return []functions.QuotaName{functions.QuotaRequests, functions.QuotaPolls, functions.QuotaStreams}
}

// usualSetter takes over what projects may have that have nothing of their own.
type usualSetter interface{ SetUsual(u tenant.Usual) }

// reloadAtHangup reads the file of settings again at each SIGHUP, until stop is called. Without a file a hangup does what it always does.
func (o *serverOptions) reloadAtHangup(ctx context.Context, service usualSetter) (stop func()) {
	if o.file == nil {
		return func() {}
	}
	hangups := make(chan os.Signal, 1) // several that come at once are one
	signal.Notify(hangups, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				o.reload(service)
			}
		}
	})
	return func() {
		signal.Stop(hangups)
		cancel()
		done.Wait()
	}
}

// reload takes over what the file has come to say, and logs what needs a restart. A file with a mistake changes nothing.
func (o *serverOptions) reload(service usualSetter) {
	log := o.config.Log
	next, err := o.readAgain()
	if err != nil {
		log.Error("the file of settings is not taken over: what was in force stays in force", "file", o.configPath, "error", err)
		return
	}
	taken, waiting := o.changes(next)
	next.keepDoors(o.config)
	service.SetUsual(tenant.Usual{Quotas: next.config.quotas(), RecheckSeconds: next.config.Recheck.Seconds})
	o.log.inForce.Set(next.log.inForce.Level())
	o.config.Quotas, o.settings = next.config.Quotas, o.afterReload(next)
	log.Info("the file of settings was read again", "file", o.configPath, "taken_over", taken)
	if len(waiting) > 0 {
		log.Warn("these settings have changed and need a restart", "file", o.configPath, "settings", waiting)
	}
}

// readAgain is what the server would be started with now.
func (o *serverOptions) readAgain() (*serverOptions, error) {
	next := &serverOptions{terminal: o.started}
	flags := pflag.NewFlagSet("server", pflag.ContinueOnError)
	next.register(flags)
	if err := giveFlags(flags, o.given); err != nil {
		return nil, err
	}
	return next, next.load(flags)
}

// changes are the names of the settings that have changed: those that are taken over, and those that wait for a restart.
func (o *serverOptions) changes(next *serverOptions) (taken, waiting []string) {
	for i, s := range next.settings {
		if s.raw == o.settings[i].raw || s.Key == "quotas" {
			continue
		}
		if slices.Contains(liveKeys(), s.Key) {
			taken = append(taken, s.Key)
		} else {
			waiting = append(waiting, s.Key)
		}
	}
	for _, name := range tenant.QuotaNames() {
		before, had := o.config.Quotas[name]
		if now, has := next.config.Quotas[name]; now == before && has == had {
			continue
		}
		if key := fmt.Sprintf("quotas.%s", name); slices.Contains(doorQuotas(), name) {
			waiting = append(waiting, key)
		} else {
			taken = append(taken, key)
		}
	}
	return taken, waiting
}

// keepDoors leaves what the doors go by, and needs a restart, as it is in force.
func (o *serverOptions) keepDoors(inForce serverConfig) {
	o.config.Doors.limits = inForce.Doors.limits
	o.config.Quotas = maps.Clone(o.config.Quotas)
	for _, name := range doorQuotas() {
		delete(o.config.Quotas, name)
		if value, set := inForce.Quotas[name]; set {
			o.config.Quotas[name] = value
		}
	}
}

// afterReload are the settings in force: those that wait for a restart are as they were, so that the next reload names them again.
func (o *serverOptions) afterReload(next *serverOptions) []setting {
	inForce := slices.Clone(o.settings)
	for i, s := range next.settings {
		if slices.Contains(liveKeys(), s.Key) {
			inForce[i] = s
		}
	}
	return inForce
}
