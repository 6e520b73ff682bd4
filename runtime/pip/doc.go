// Package pip chooses the packages of a runtime: it runs pip in the interpreter that this program carries, on the machine of the person
// who wants them, and writes down what was chosen.
//
// Wheels only: whatever would have to be built is refused before its code runs. What is installed depends on nothing but the wheels:
// programs and other files that pip puts beside the packages name this machine, and are taken away again.
//
// pip comes with the module that has the interpreter (go-embed-python), so that go.sum pins it too.
package pip
