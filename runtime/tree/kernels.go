package tree

import (
	"slices"
	"strings"

	"github.com/ostraka/ostraka/runtime/python"
)

// Kernel is the code that numerical libraries take on some processors. Agents have one kernel: see pinned.
type Kernel struct {
	Name string // as OpenBLAS calls it
	// Without are the instructions that numpy's own loops do without there.
	Without string
}

// OtherKernels are kernels of older processors than agents have: every machine that executes runtimes can execute them, too.
func OtherKernels() []Kernel {
	return []Kernel{
		{Name: "Sandybridge", Without: "AVX2 FMA3"},
		{Name: "Nehalem", Without: "AVX2 FMA3 AVX F16C"},
	}
}

// On is a runtime whose libraries compute with a kernel.
func (k Kernel) On(t python.Tree) python.Tree {
	t.Variables = slices.Clone(t.Variables)
	for i, v := range t.Variables {
		switch name, value, _ := strings.Cut(v, "="); name {
		case "OPENBLAS_CORETYPE":
			t.Variables[i] = name + "=" + k.Name
		case "NPY_DISABLE_CPU_FEATURES":
			t.Variables[i] = name + "=" + value + " " + k.Without
		}
	}
	return t
}
