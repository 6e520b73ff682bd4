//go:build linux

package linux

const probeArgument = "__ostraka-sandbox-probe"

func probeMain() {}
