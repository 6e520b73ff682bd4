package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

// confirm asks whether something is to be done that cannot be taken back; where nobody can be asked it takes --yes.
func (t *terminal) confirm(yes bool, what string) error {
	if yes {
		return nil
	}
	if !t.asks {
		return &exitError{code: exitUsage, err: fmt.Errorf("%s cannot be taken back", what), hint: "say --yes if you mean it"}
	}
	fmt.Fprintf(t.talk, "%s cannot be taken back. Type yes to go on: ", capital(what))
	line, err := bufio.NewReader(t.in).ReadString('\n')
	if err != nil {
		return fmt.Errorf("reading your answer: %w", err)
	}
	if !strings.EqualFold(strings.TrimSpace(line), "yes") {
		return &exitError{code: exitUsage, err: errors.New("nothing was done: the answer was not yes")}
	}
	return nil
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
