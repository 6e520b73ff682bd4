package tree

import (
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/cpu"

	"github.com/ostraka/ostraka/runtime/python"
)

// Origin is how a result says that its interpreter came from a runtime.
const Origin = "runtime"

// pinned are the variables that every interpreter of a runtime gets beside the usual ones. Numbers of one tree still differ between
// processors where libraries choose other code for each: these have them choose the same on every processor that Runs allows.
// docs/runtimes.md says what each does.
func pinned() []string {
	return []string{
		"OPENBLAS_CORETYPE=Haswell", // else one of twenty kernels, by the processor
		"OPENBLAS_NUM_THREADS=1",    // the order of a sum depends on how many share it
		"OMP_NUM_THREADS=1",
		"MKL_NUM_THREADS=1",
		"MKL_CBWR=COMPATIBLE",
		"BLIS_NUM_THREADS=1",
		"NUMEXPR_NUM_THREADS=1",
		"NPY_DISABLE_CPU_FEATURES=AVX512F AVX512CD AVX512_KNL AVX512_KNM AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL",
	}
}

// Runs says for which platform this machine executes runtimes; empty: for none. The variables above choose code that needs AVX2 and FMA.
func Runs() string {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	if platform != Platform || !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return ""
	}
	return platform
}

// Tree is an unpacked runtime as an interpreter.
func (m *Manifest) Tree(dir, digest string) python.Tree {
	at := func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) }
	search := func(list []string) string {
		found := make([]string, len(list))
		for i, p := range list {
			found[i] = at(p)
		}
		return strings.Join(found, ":")
	}
	// Landmarks of Python's own library lie beside the program: <home>/bin/python3, <home>/lib/python3.x.
	home := filepath.Dir(filepath.Dir(at(m.Interpreter)))
	return python.Tree{
		Dir: dir, Interpreter: at(m.Interpreter), Paths: []string{dir}, Digest: digest, Version: m.Python, Origin: Origin,
		Loader: at(m.Loader), LibraryPath: search(m.Libraries),
		Variables: append([]string{"PYTHONHOME=" + home, "PYTHONPATH=" + search(m.Packages)}, pinned()...),
	}
}
