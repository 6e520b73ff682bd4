package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// terminal is where a command gets its words from and puts them. How it speaks: data goes to out and nothing else does, so that a
// pipe gets data only; everything meant for a person goes to talk. An error is one line that says what was being done, and the
// next line what to do about it. It asks
// whether the owner of a machine accepts the agreement, and before it does what cannot be taken back; nothing else.
type terminal struct {
	in   io.Reader
	out  io.Writer // data
	talk io.Writer // for people
	// live says that talk is a terminal, where a line may be drawn over.
	live bool
	// shows says that out is a terminal.
	shows bool
	// screen is out itself where it is a terminal, for what draws on all of it; nil elsewhere.
	screen io.Writer
	// asks says that there is a person who can answer: in and talk are terminals.
	asks bool
	env  func(string) string
	// program is how this program is called in commands that a person is told to type.
	program string
}

func systemTerminal() *terminal {
	t := &terminal{
		in: os.Stdin, out: os.Stdout, talk: os.Stderr,
		live:  term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb",
		shows: term.IsTerminal(int(os.Stdout.Fd())),
		asks:  term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
		env:   os.Getenv, program: programName(os.Args[0]),
	}
	if t.shows && os.Getenv("TERM") != "dumb" {
		t.screen = os.Stdout
	}
	return t
}

// programName is what a person can type to start the program that was started like this.
func programName(started string) string {
	if strings.ContainsRune(started, '/') {
		return shellWord(started)
	}
	return "ostraka"
}

// say tells a person something.
func (t *terminal) say(format string, args ...any) {
	fmt.Fprintf(t.talk, format+"\n", args...)
}

// put writes data.
func (t *terminal) put(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }

// complain tells of the error that ends a command; a server may have written it, for whom the terminal is none to draw on.
func (t *terminal) complain(err error) {
	t.say("ostraka: %s", plainLines(err.Error()))
	if hint := hintOf(err); hint != "" {
		t.say("  hint: %s", plainLines(hint))
	}
}
