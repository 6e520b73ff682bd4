// Command image packs the program into an image for Docker, Podman and Kubernetes, without a registry and without a daemon: the static
// program, Mozilla's certificates, a user that is nobody, and a folder for temporary files. The same program makes the same digest.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
)

// tagPattern is what a version may be to be the image's tag, as the distribution specification of OCI has it.
var tagPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

func main() {
	program := flag.String("program", "bin/ostraka", "the static program for Linux")
	version := flag.String("version", "", "the image's tag")
	architecture := flag.String("arch", runtime.GOARCH, "what the program was built for")
	output := flag.String("o", "bin/ostraka-image.tar", "where the image goes")
	flag.Parse()
	digest, err := pack(*program, *output, options{version: *version, architecture: *architecture})
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
	fmt.Printf("%s:%s %s\n", imageTag, *version, digest)
}

func pack(program, output string, o options) (digest string, err error) {
	if !tagPattern.MatchString(o.version) {
		return "", fmt.Errorf("-version %q cannot be a tag: letters, digits, dots, _ and -", o.version)
	}
	if o.program, err = os.ReadFile(program); err != nil {
		return "", fmt.Errorf("reading the program: %w", err)
	}
	out, err := os.Create(output)
	if err != nil {
		return "", fmt.Errorf("making the image: %w", err)
	}
	digest, err = build(out, o)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return digest, err
}
