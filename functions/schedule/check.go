package schedule

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/timetable"
)

// check refuses what is no schedule, and fills in what was left out.
func check(by functions.Principal, spec *Spec) (err error) {
	if err := functions.CheckName("schedule", spec.Name); err != nil {
		return err
	}
	if spec.Overlap == "" {
		spec.Overlap = OverlapSkip
	}
	if spec.CatchUp == "" {
		spec.CatchUp = timetable.CatchUpNone
	}
	switch spec.Overlap {
	case OverlapSkip, OverlapQueue, OverlapCancel:
	default:
		return badSchedule("overlap", fmt.Sprintf("there is no %.20q", spec.Overlap), "choose skip, queue or cancel-other")
	}
	switch spec.CatchUp {
	case timetable.CatchUpNone, timetable.CatchUpOne, timetable.CatchUpAll:
	default:
		return badSchedule("catch_up", fmt.Sprintf("there is no %.20q", spec.CatchUp), "choose none, one or all")
	}
	if (spec.Job.Function == "") == (spec.Workflow == nil) {
		return badSchedule("job", "a schedule has either a job with a function or a workflow", `write "job": {"function": …}, or "workflow": {"name": …}`)
	}
	if spec.Job.RerunOf != nil {
		return badSchedule("job.rerun_of", "a schedule runs no job again", "leave it out")
	}
	if _, err := timesOf(*spec, time.Unix(0, 0), uuid.Nil); err != nil {
		return err
	}
	if spec.Workflow == nil {
		spec.Job.Priority, err = dispatch.CheckPriority(by, spec.Job.Priority)
	}
	return err
}

// timesOf reads the times of a schedule.
func timesOf(spec Spec, made time.Time, id uuid.UUID) (*timetable.Timetable, error) {
	t := timetable.Spec{Cron: spec.Cron, Zone: spec.TimeZone}
	var err error
	if t.Every, err = duration("every", spec.Every); err != nil {
		return nil, err
	}
	if t.Jitter, err = duration("jitter", spec.Jitter); err != nil {
		return nil, err
	}
	if spec.Starts != nil {
		t.Starts = *spec.Starts
	}
	if spec.Ends != nil {
		t.Ends = *spec.Ends
	}
	times, err := timetable.New(t, made, id[:])
	var wrong *timetable.Error
	if errors.As(err, &wrong) {
		return nil, badSchedule(wrong.Field, wrong.Detail, wrong.Hint)
	}
	return times, err
}

// duration reads a duration; "" is none.
func duration(field, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d == 0 {
		return 0, badSchedule(field, fmt.Sprintf("%.40q is no duration", text), "write for example 90m or 6h; there are h, m and s")
	}
	return d, nil
}

func badSchedule(field, detail, hint string) error {
	return functions.Invalid("bad_schedule", field+": "+detail, hint)
}

// encode is the form that is kept.
func encode(spec Spec) ([]byte, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encoding the schedule: %w", err)
	}
	if len(text) > MaxSpecBytes {
		return nil, &functions.Error{
			Kind: functions.KindTooLarge, Code: "schedule_too_large", Message: fmt.Sprintf("the schedule has %d bytes, and the limit is %d", len(text), MaxSpecBytes),
			Hint: "store its input as an object (ostraka object put) and give the digest",
		}
	}
	return text, nil
}
