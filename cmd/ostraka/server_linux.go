package main

import (
	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/wasm/runner"
)

// apiVersion is the version of the API's specification.
const apiVersion = api.SpecVersion

// maybeRunModule runs a WASM module where that is what this process was started for.
func maybeRunModule() { runner.MaybeRun() }
