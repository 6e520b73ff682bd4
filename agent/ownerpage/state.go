package ownerpage

import (
	"net/http"
	"path/filepath"
	"time"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/agent/ledger"
	"github.com/ostraka/ostraka/agent/prefs"
)

// maxHistory is how many lines of what was done are shown: ostraka agent history has all.
const maxHistory = 200

// state is all that the page shows.
type state struct {
	Status      agent.Status     `json:"status"`
	Agreement   agreement        `json:"agreement"`
	Today       ledger.Work      `json:"today"`
	Month       ledger.Work      `json:"month"`
	History     []ledger.Entry   `json:"history"`
	HistoryCut  bool             `json:"history_cut"` // there is more than is shown
	Preferences []preferenceLine `json:"preferences"`
	Mistake     string           `json:"mistake,omitempty"` // for which the preferences in the file are not shown
}

// agreement is what the owner has accepted.
type agreement struct {
	Version    string    `json:"version"`
	AcceptedAt time.Time `json:"accepted_at"`
}

// preferenceLine is a preference as it stands.
type preferenceLine struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Example string `json:"example"`
	Value   string `json:"value"` // as it is typed
	IsSet   bool   `json:"is_set"`
	ByHand  bool   `json:"by_hand"` // several lines, which the page shows and does not change
}

func (p *Page) state(w http.ResponseWriter, _ *http.Request) {
	s, err := p.gather()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	answer(w, http.StatusOK, s)
}

// gather reads the agent's folder.
func (p *Page) gather() (s state, err error) {
	if s.Status, err = agent.ReadStatus(p.dir); err != nil {
		return s, err
	}
	accepted, err := agent.ReadAcceptance(p.dir)
	if err != nil {
		return s, err
	}
	s.Agreement = agreement{accepted.Version, accepted.AcceptedAt}
	all, err := agent.ReadHistory(p.dir)
	if err != nil {
		return s, err
	}
	now := p.now()
	s.Today = ledger.Since(all, now)
	s.Month = ledger.Since(all, time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location()))
	s.History, s.HistoryCut = all[:min(len(all), maxHistory)], len(all) > maxHistory
	content, err := prefs.Read(p.preferences())
	if err != nil {
		return s, err
	}
	lines, err := prefs.Describe(content)
	if err != nil {
		s.Mistake = err.Error()
		return s, nil //nolint:nilerr // the page shows it, with the rest
	}
	for _, l := range lines {
		s.Preferences = append(s.Preferences, preferenceLine{l.Key.Name, l.Key.About, l.Key.Typed(l.Key.Example), l.Key.Typed(l.Value), l.IsSet, l.Key.ByHand()})
	}
	return s, nil
}

func (p *Page) preferences() string { return filepath.Join(p.dir, prefs.FileName) }
