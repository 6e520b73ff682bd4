// Probe is a module that looks around and tries what it must not be able to do.
// It prints one JSON object and never fails.
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

func main() {
	in := bufio.NewReader(os.Stdin)
	header, _ := in.ReadBytes('\n')
	rest, _ := io.ReadAll(in)
	before := time.Now()
	time.Sleep(2 * time.Hour)
	random := make([]byte, 8)
	_, _ = rand.Read(random)
	_, openErr := os.Open("/etc/passwd")
	createErr := os.WriteFile("/tmp/ostraka-probe", []byte("x"), 0o600)
	_, dirErr := os.ReadDir("/")
	_, dialErr := net.Dial("tcp", "127.0.0.1:80")
	fmt.Fprintln(os.Stderr, "looking around")
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"args": os.Args, "environ": os.Environ(), "now": before.UTC().Format(time.RFC3339), "slept": time.Since(before) >= 2*time.Hour,
		"random": fmt.Sprintf("%x", random), "header": json.RawMessage(header), "rest": len(rest),
		"open": fmt.Sprint(openErr), "create": fmt.Sprint(createErr), "dir": fmt.Sprint(dirErr), "dial": fmt.Sprint(dialErr),
	})
}
