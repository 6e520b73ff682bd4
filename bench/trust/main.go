// The trust program runs the verification against simulated agents that lie, and prints a table for each setting, and `name value` lines. It
// fails where a bar is broken that a policy promises to keep, and says so where it promises nothing. Everything comes out the same again.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/functions/verify/simulate"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "trust:", err)
		os.Exit(1)
	}
}

func run() error {
	short := flag.Bool("short", false, "run small settings, in less than a minute")
	only := flag.String("only", "", "run only the settings that have this in their names")
	but := flag.String("but", "", "leave those out that have this in their names")
	populations := flag.String("populations", "", "run only these, by their names with commas between them")
	seeds := flag.Int("seeds", 0, "how many seeds at most; 0: as many as each setting has")
	flag.Parse()
	trials := slices.DeleteFunc(simulate.Trials(*short), func(t simulate.Trial) bool {
		return !strings.Contains(t.Name, *only) || *but != "" && strings.Contains(t.Name, *but)
	})
	for i := range trials {
		if *seeds > 0 {
			trials[i].Seeds = min(trials[i].Seeds, *seeds)
		}
		if *populations != "" {
			trials[i] = trials[i].With(strings.Split(*populations, ","))
		}
	}
	trials = slices.DeleteFunc(trials, func(t simulate.Trial) bool { return len(t.Options.Populations) == 0 })
	slow, err := makespans(os.Stdout)
	if err != nil {
		return err
	}
	broken, err := simulate.Bench(os.Stdout, trials)
	if err == nil && broken+slow > 0 {
		err = fmt.Errorf("%d rows broke their bars, and %d jobs took too long: look for BROKEN in the tables", broken, slow)
	}
	return err
}
