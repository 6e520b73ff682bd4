package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
)

// confirm asks, until the context ends, whether to do something that cannot be taken back; without a terminal it takes --yes.
func (t *terminal) confirm(ctx context.Context, yes bool, what string) error {
	if yes {
		return nil
	}
	if !t.asks {
		return &exitError{code: exitUsage, err: fmt.Errorf("%s cannot be taken back", what), hint: "say --yes if you mean it"}
	}
	fmt.Fprintf(t.talk, "%s cannot be taken back. Type yes to continue: ", capital(what))
	line, err := t.answerTo(ctx)
	if err != nil {
		return fmt.Errorf("reading your answer: %w", err)
	}
	if !strings.EqualFold(strings.TrimSpace(line), "yes") {
		return &exitError{code: exitUsage, err: errors.New("nothing was done: the answer was not yes")}
	}
	return nil
}

// answerTo reads a line, or gives up when the context ends: nothing else ends a read of a terminal.
func (t *terminal) answerTo(ctx context.Context) (string, error) {
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		line, err := bufio.NewReader(t.in).ReadString('\n')
		done <- read{line, err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		return "", &exitError{code: exitInterrupted, err: errors.New("interrupted: nothing was done")}
	}
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
