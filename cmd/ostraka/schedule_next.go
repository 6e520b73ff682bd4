package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/functions/timetable"
)

// nextTimes is how many times `ostraka schedule next` prints.
const nextTimes = 10

func newScheduleNext(t *terminal) *cobra.Command {
	var output outputFlag
	var zone, from string
	cmd := &cobra.Command{
		Use: "next CRON", Short: "Print the next ten times of a cron expression; it asks no server",
		Example: "  ostraka schedule next '30 2 * * *' --time-zone Europe/Berlin\n  ostraka schedule next '0 3 * * 1-5' -o json",
		Args:    arguments(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			after := time.Now()
			given, err := momentFlag("--from", from)
			if err != nil {
				return err
			}
			if given != nil {
				after = *given
			}
			times, err := timetable.New(timetable.Spec{Cron: args[0], Zone: zone}, after, nil)
			var wrong *timetable.Error
			if errors.As(err, &wrong) {
				return &exitError{code: exitUsage, err: err, hint: wrong.Hint}
			}
			if err != nil {
				return err
			}
			return printTimes(t, &output, times.Upcoming(after, nextTimes), zone)
		},
	}
	output.register(cmd.Flags())
	cmd.Flags().StringVar(&zone, "time-zone", "", "whose clock is meant, for example Europe/Berlin; UTC when left out")
	cmd.Flags().StringVar(&from, "from", "", "print the times after this moment, for example 2027-03-27T00:00:00Z; left out: now")
	return cmd
}

// printTimes prints moments, as the zone's clock shows them and in UTC.
func printTimes(t *terminal, o *outputFlag, list []time.Time, zone string) error {
	if o.json() {
		return writeValue(t.out, list)
	}
	clock, err := time.LoadLocation(zone)
	if err != nil {
		return err
	}
	table := newTable(t.out, "LOCAL", "UTC")
	for _, at := range list {
		table.row(at.In(clock).Format("Mon 2006-01-02 15:04 -0700"), at.Format(time.RFC3339))
	}
	return table.flush()
}
