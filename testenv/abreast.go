package testenv

import (
	"flag"
	"strconv"
)

// Abreast lets n parallel tests of a package run at a time, unless -parallel says how many. Go's own number, that of the cores, leaves them
// idle where tests wait: for a timer of an agent, for a lease that runs out, for a process. TestMain calls it before it runs the tests.
func Abreast(n int) {
	flag.Parse() // Main does nothing about flags that are parsed already
	told := false
	flag.Visit(func(f *flag.Flag) { told = told || f.Name == "test.parallel" })
	if !told {
		_ = flag.Set("test.parallel", strconv.Itoa(n)) // the flag is Go's, and takes every number above 0
	}
}
