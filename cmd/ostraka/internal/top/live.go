package top

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Read reads a sample from a server.
type Read func(ctx context.Context) (Sample, error)

// Run shows samples on a terminal, one every so often, until the person there has seen enough or the context ends.
func Run(ctx context.Context, in io.Reader, out io.Writer, every time.Duration, read Read, options ...tea.ProgramOption) error {
	options = append([]tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler()}, options...)
	m := &model{ctx: ctx, every: every, read: read}
	_, err := tea.NewProgram(m, options...).Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if m.interrupted && err == nil {
		return context.Canceled
	}
	return err
}

// model is what is on the screen. It implements tea.Model.
type model struct {
	ctx   context.Context // of the program: tea's commands take none
	every time.Duration
	read  Read
	rates Rates

	sample        Sample
	known         bool // there is a sample
	err           error
	paused        bool
	interrupted   bool // by Ctrl-C
	reading       bool
	round         int // counts waits, so that one that was overtaken is not taken for the newest
	from          int // the first line of the body that is shown
	width, height int
}

// arrived is a sample, or why there is none.
type arrived struct {
	sample Sample
	err    error
}

// due says that it is time for the next sample.
type due struct{ round int }

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return m.ask() }

// ask reads a sample, unless one is on its way.
func (m *model) ask() tea.Cmd {
	if m.reading {
		return nil
	}
	m.reading = true
	return func() tea.Msg {
		s, err := m.read(m.ctx)
		return arrived{s, err}
	}
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case arrived:
		return m, m.take(msg)
	case due:
		if msg.round == m.round && !m.paused {
			return m, m.ask()
		}
	case tea.KeyPressMsg:
		return m, m.press(msg.String())
	}
	return m, nil
}

// take shows what was read, and waits for the next time.
func (m *model) take(a arrived) tea.Cmd {
	m.reading = false
	if m.err = a.err; a.err == nil {
		m.sample, m.known = a.sample, true
		m.rates.Fill(&m.sample)
	}
	m.round++
	next := due{m.round}
	return tea.Tick(m.every, func(time.Time) tea.Msg { return next })
}

func (m *model) press(key string) tea.Cmd {
	switch key {
	case "ctrl+c": // a terminal that tells keys one by one sends no signal
		m.interrupted = true
		return tea.Quit
	case "q", "esc":
		return tea.Quit
	case "space", "p":
		if m.paused = !m.paused; !m.paused {
			return m.ask()
		}
	case "r":
		return m.ask()
	case "down", "j":
		m.from++
	case "up", "k":
		m.from--
	case "pgdown":
		m.from += m.height / 2
	case "pgup":
		m.from -= m.height / 2
	case "home", "g":
		m.from = 0
	}
	return nil
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	v.WindowTitle = "ostraka top"
	return v
}

// screen is what fits of heading and body, and the keys below.
func (m *model) screen() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	var heading, body []string
	if m.known {
		heading, body = Lines(m.sample)
	} else if m.err == nil {
		heading = []string{"reading …"}
	}
	room := max(m.height-len(heading)-3, 1) // an empty line, what is wrong, and the keys
	m.from = max(min(m.from, len(body)-room), 0)
	shown := body[m.from:min(m.from+room, len(body))]
	lines := make([]string, 0, m.height)
	for i, h := range heading {
		if i == 0 {
			lines = append(lines, ansi.NewStyle().Bold().Styled(m.fit(h)))
			continue
		}
		lines = append(lines, ansi.NewStyle().Reverse(true).Styled(m.fit(h)))
	}
	lines = append(lines, "")
	for _, line := range shown {
		lines = append(lines, m.fit(line))
	}
	for len(lines) < m.height-2 {
		lines = append(lines, "")
	}
	return strings.Join(append(lines, m.fit(m.trouble()), ansi.NewStyle().Faint().Styled(m.fit(m.keys(len(body), room)))), "\n")
}

func (m *model) fit(line string) string { return ansi.Truncate(line, m.width, "…") }

// trouble says what is wrong. What was read last stays on the screen meanwhile.
func (m *model) trouble() string {
	if m.err == nil {
		return ""
	}
	return "! " + plain(strings.Join(strings.Fields(m.err.Error()), " ")) + " – trying again"
}

// plain is the command line's own (table.go there), which this package cannot import. It makes foreign text safe for a terminal: what a server or something on the way to it answers must not move the cursor.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '·'
		}
		return r
	}, text)
}

func (m *model) keys(lines, room int) string {
	keys := "q quit   space pause   r read now"
	if m.paused {
		keys = "q quit   space go on   r read now   PAUSED"
	}
	if lines > room {
		keys += fmt.Sprintf("   ↑↓ lines %d to %d of %d", m.from+1, min(m.from+room, lines), lines)
	}
	return keys
}
