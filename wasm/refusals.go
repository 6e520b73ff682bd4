package wasm

import "github.com/ostraka/ostraka/wasm/precheck"

// refusalHint says what to do about bytes that the pre-check refused.
func refusalHint(rule precheck.Rule) string {
	switch rule {
	case precheck.RuleMagic:
		return "give the .wasm file that the build makes: not its source, text format or an archive"
	case precheck.RuleComponent:
		return "build for WASI preview 1: the target wasm32-wasip1 (or wasm32-wasi), without wasm-tools component or wit-bindgen"
	case precheck.RuleMalformed:
		return "build it again and send the whole file: this one was cut off or damaged; wasm-validate may show where"
	case precheck.RuleSize:
		return "leave out debug sections (go build -ldflags='-s -w', clang -Wl,-s, wasm-opt --strip-debug), and optimise for size"
	case precheck.RuleImport, precheck.RuleImportType:
		return "import nothing but the functions of wasi_snapshot_preview1 that docs/modules.md lists"
	case precheck.RuleFeature, precheck.RuleTableGrow:
		return "build with the features of WebAssembly 2.0 only: without threads, tail calls, exceptions, garbage collection and 64-bit memory"
	case precheck.RuleExportStart, precheck.RuleStart:
		return "build a command, whose main is exported as _start: not a library or a reactor"
	case precheck.RuleExportMemory:
		return "export the memory under the name memory, as WASI asks"
	case precheck.RuleMemory:
		return "let the module begin with less memory; docs/modules.md has the limits"
	default:
		return "split what is too large, or build with -Os; docs/modules.md has the limits of what a module may hold"
	}
}
