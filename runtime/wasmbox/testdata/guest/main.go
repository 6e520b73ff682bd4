// Guest is a function in WebAssembly that does what its input says, most of it hostile.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

func main() {
	var input struct {
		Do string
		N  int
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		fmt.Fprintln(os.Stderr, "the input is not understood:", err)
		os.Exit(65)
	}
	switch input.Do {
	case "loop":
		for {
		}
	case "grow":
		var all [][]byte
		for {
			all = append(all, make([]byte, 1<<20))
			all[len(all)-1][0] = 1
		}
	case "flood":
		for {
			fmt.Print(strings.Repeat("x", 1<<10))
		}
	case "panic":
		panic("as asked")
	case "exit":
		fmt.Fprintln(os.Stderr, "why it ends")
		os.Exit(input.N)
	case "print":
		fmt.Print(map[int]string{0: "", 1: "1 2", 2: "{", 3: " {\"b\": 1.50, \"a\": \"\\u00e9\"}\n", 4: "NaN", 5: "1e999", 6: "null", 7: "[" + strings.Repeat("1e15,", 600) + "0]"}[input.N])
	case "recurse":
		fmt.Println(recurse(input.N))
	case "sees":
		sees()
	}
}

func recurse(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + recurse(n-1)
}

// sees prints what there is of the machine.
func sees() {
	random := make([]byte, 8)
	_, _ = rand.Read(random)
	_, open := os.Open("/etc/passwd")
	_, dial := net.Dial("tcp", "127.0.0.1:80")
	began := time.Now()
	time.Sleep(time.Hour)
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"random": hex.EncodeToString(random), "open": open != nil, "dial": dial != nil, "environment": len(os.Environ()),
		"now": began.UTC().Format("2006-01-02T15"), "slept": time.Since(began) >= time.Hour, "arguments": os.Args,
	})
}
