package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ostraka/ostraka/functions/timetable"
)

// Schedule has runs of the workflow started later, again and again. Its parameters are those of every run, with the defaults in them.
type Schedule struct {
	Name       string
	Cron       string
	Every      string
	TimeZone   string
	Jitter     string
	Overlap    string
	CatchUp    string
	Starts     *time.Time
	Ends       *time.Time
	Parameters map[string]json.RawMessage
}

// scheduleTable is a schedule as it is written.
type scheduleTable struct {
	Name       string         `toml:"name"`
	Cron       string         `toml:"cron"`
	Every      string         `toml:"every"`
	TimeZone   string         `toml:"time_zone"`
	Jitter     string         `toml:"jitter"`
	Overlap    string         `toml:"overlap"`
	CatchUp    string         `toml:"catch_up"`
	Starts     *time.Time     `toml:"starts"`
	Ends       *time.Time     `toml:"ends"`
	Parameters map[string]any `toml:"parameters"`
}

// readSchedules reads [[schedules]].
func (d *Definition) readSchedules(tables []scheduleTable) error {
	if len(tables) > MaxSchedules {
		return wrong("schedules", "leave some out", "there are %d schedules, and the limit is %d", len(tables), MaxSchedules)
	}
	for i, t := range tables {
		if !workflowName.MatchString(t.Name) {
			return wrong(fmt.Sprintf("schedules[%d].name", i), "use 1 to 63 lower-case letters, digits and hyphens, starting with a letter", "%s is no name for a schedule", brief(t.Name))
		}
		if slices.ContainsFunc(d.Schedules, func(s Schedule) bool { return s.Name == t.Name }) {
			return wrong("schedules", "choose another name for one of them", "there are two schedules %s", brief(t.Name))
		}
		s, err := d.schedule(t)
		if err != nil {
			return err
		}
		d.Schedules = append(d.Schedules, s)
	}
	return nil
}

func (d *Definition) schedule(t scheduleTable) (s Schedule, err error) {
	s = Schedule{
		Name: t.Name, Cron: t.Cron, Every: t.Every, TimeZone: t.TimeZone, Jitter: t.Jitter, Overlap: t.Overlap, CatchUp: t.CatchUp,
		Starts: inUTC(t.Starts), Ends: inUTC(t.Ends),
	}
	if err := s.checkTimes(); err != nil {
		return s, err
	}
	given := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		if given[name], err = json.Marshal(t.Parameters[name]); err != nil {
			return s, wrong(s.field("parameters."+name), "write a number, a text, true or false", "the value is none of a parameter")
		}
	}
	values, err := d.Values(given)
	if err != nil {
		return s, s.own(err)
	}
	text, err := json.Marshal(values)
	if err != nil {
		return s, fmt.Errorf("encoding the parameters of a schedule: %w", err)
	}
	if err := json.Unmarshal(text, &s.Parameters); err != nil {
		return s, fmt.Errorf("reading the parameters of a schedule: %w", err)
	}
	return s, nil
}

func inUTC(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	return new(at.UTC())
}

// checkTimes refuses times that no schedule of a project may have.
func (s Schedule) checkTimes() error {
	if !slices.Contains([]string{"", "skip", "queue", "cancel-other"}, s.Overlap) {
		return wrong(s.field("overlap"), "choose skip, queue or cancel-other", "there is no %s", brief(s.Overlap))
	}
	if !slices.Contains([]string{"", "none", "one", "all"}, s.CatchUp) {
		return wrong(s.field("catch_up"), "choose none, one or all", "there is no %s", brief(s.CatchUp))
	}
	times := timetable.Spec{Cron: s.Cron, Zone: s.TimeZone}
	var err error
	if times.Every, err = s.pause("every", s.Every); err != nil {
		return err
	}
	if times.Jitter, err = s.pause("jitter", s.Jitter); err != nil {
		return err
	}
	if s.Starts != nil {
		times.Starts = *s.Starts
	}
	if s.Ends != nil {
		times.Ends = *s.Ends
	}
	_, err = timetable.New(times, time.Unix(0, 0), nil)
	var mistake *timetable.Error
	if errors.As(err, &mistake) {
		return wrong(s.field(mistake.Field), mistake.Hint, "%s", mistake.Detail)
	}
	return err
}

// pause reads a duration; "" is none.
func (s Schedule) pause(field, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d == 0 {
		return 0, wrong(s.field(field), "write for example 90m or 6h; there are h, m and s", "%s is no duration", brief(text))
	}
	return d, nil
}

func (s Schedule) field(name string) string { return "schedules." + s.Name + "." + name }

// own names the schedule in a mistake of its parameters.
func (s Schedule) own(err error) error {
	var mistake *Error
	if errors.As(err, &mistake) {
		return wrong("schedules."+s.Name+"."+mistake.Field, mistake.Hint, "%s", mistake.Detail)
	}
	return err
}

// checkSchedules refuses schedules whose parameters no run could have.
func (d *Definition) checkSchedules() error {
	for _, s := range d.Schedules {
		values, err := d.Values(s.Parameters)
		if err != nil {
			return s.own(err)
		}
		if err := d.Jobs(values); err != nil {
			return s.own(err)
		}
	}
	return nil
}

// SameSchedule tells whether two schedules say the same.
func SameSchedule(a, b Schedule) bool {
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	other, err := json.Marshal(b)
	return err == nil && string(one) == string(other)
}
