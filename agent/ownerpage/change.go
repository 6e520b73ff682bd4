package ownerpage

import (
	"net/http"
	"time"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/agent/prefs"
)

// pause has the agent rest.
func (p *Page) pause(w http.ResponseWriter, r *http.Request) {
	var sent struct {
		Reason  string `json:"reason"`
		Finish  bool   `json:"finish"`
		Minutes int64  `json:"minutes"`
	}
	if !read(w, r, &sent) {
		return
	}
	if sent.Minutes < 0 || sent.Minutes > int64(agent.MaxPause/time.Minute) {
		refuse(w, http.StatusUnprocessableEntity, "a pause lasts a year at most: leave its end out and resume when you like")
		return
	}
	err := agent.Pause(p.dir, agent.PauseOptions{Reason: sent.Reason, Finish: sent.Finish, For: time.Duration(sent.Minutes) * time.Minute})
	p.done(w, err, "paused on the page")
}

// resume ends a pause.
func (p *Page) resume(w http.ResponseWriter, _ *http.Request) {
	_, err := agent.Resume(p.dir)
	p.done(w, err, "resumed on the page")
}

// preference sets one preference, or takes it out of the file.
func (p *Page) preference(w http.ResponseWriter, r *http.Request) {
	var sent struct {
		Name  string  `json:"name"`
		Value *string `json:"value"` // as it is typed; null: nothing is set
	}
	if !read(w, r, &sent) {
		return
	}
	err := prefs.Change(p.preferences(), func(content []byte) ([]byte, error) {
		if sent.Value == nil {
			return prefs.Unset(content, sent.Name)
		}
		return prefs.Set(content, sent.Name, *sent.Value)
	})
	p.done(w, err, "changed on the page: the preference "+sent.Name)
}

// done answers what was changed, or why it was not.
func (p *Page) done(w http.ResponseWriter, err error, what string) {
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	p.say(what)
	w.WriteHeader(http.StatusNoContent)
}
