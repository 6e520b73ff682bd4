package threshold

import (
	"fmt"
	"time"
)

// Level is how serious an alert is.
type Level string

// The levels of alerts.
const (
	Warning   Level = "warning"   // somebody should look
	Critical  Level = "critical"  // what the sandbox runs is ended
	Recovered Level = "recovered" // the value has come down again
)

// recoverPart is the part of its lowest threshold that a value must fall below to have recovered: one that hovers at the threshold
// does not ring all the time.
const recoverPart = 0.9

// Alert is something that somebody should know.
type Alert struct {
	At        time.Time `json:"at"`
	Metric    Metric    `json:"metric" enum:"cpu,memory,workspace,network,processes,output"`
	Level     Level     `json:"level" enum:"warning,critical,recovered"`
	Value     float64   `json:"value"`
	Threshold float64   `json:"threshold"`
	Text      string    `json:"text" maxLength:"400"`
}

// Decider turns samples of one sandbox into alerts. An alert comes when a value was at or over a threshold for so many samples in a
// row, once, and again only after the value has recovered for as many samples.
type Decider struct {
	plan   Plan
	states map[Metric]*state
}

// state is where one metric of one sandbox stands.
type state struct {
	warnings, criticals, calm int // samples in a row
	said                      Level
}

// NewDecider makes a decider for a plan.
func NewDecider(p Plan) *Decider {
	d := &Decider{plan: p}
	d.Reset()
	return d
}

// Reset forgets all samples: what they were about has been ended.
func (d *Decider) Reset() {
	d.states = map[Metric]*state{}
	for _, m := range Metrics() {
		d.states[m] = &state{}
	}
}

// Observe takes the next sample.
func (d *Decider) Observe(s Sample) []Alert {
	var alerts []Alert
	for _, m := range Metrics() {
		value, known := s.value(m)
		if !known {
			continue
		}
		if a, rings := d.observe(m, value); rings {
			a.At = s.At
			alerts = append(alerts, a)
		}
	}
	return alerts
}

func (d *Decider) observe(m Metric, value float64) (Alert, bool) {
	st := d.states[m]
	warning, critical := d.plan.mark(d.plan.warning, m), d.plan.mark(d.plan.critical, m)
	count := func(n *int, holds bool) bool {
		if !holds {
			*n = 0
			return false
		}
		*n++
		return *n >= d.plan.samples
	}
	isCritical := count(&st.criticals, value >= critical.at)
	isWarning := count(&st.warnings, value >= warning.at)
	isCalm := count(&st.calm, value < recoverPart*d.plan.Lowest(m))
	switch {
	case isCritical && st.said != Critical:
		st.said = Critical
		return d.alert(m, Critical, value, critical), true
	case isWarning && !isCritical && st.said == "":
		st.said = Warning
		return d.alert(m, Warning, value, warning), true
	case isCalm && st.said != "":
		st.said = ""
		return Alert{
			Metric: m, Level: Recovered, Value: value, Threshold: d.plan.Lowest(m),
			Text: fmt.Sprintf("%s has come down to %s", m, show(m, value)),
		}, true
	}
	return Alert{}, false
}

func (d *Decider) alert(m Metric, l Level, value float64, over mark) Alert {
	return Alert{
		Metric: m, Level: l, Value: value, Threshold: over.at,
		Text: fmt.Sprintf("%s was at %s, for %d samples in a row at or over the %s threshold of %s (%s)", m, show(m, value), d.plan.samples, l, show(m, over.at), over.from),
	}
}
