package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/certificate"
)

// maxCertificateFile bounds a file of certificates, in bytes: it is held in memory.
const maxCertificateFile = 64 << 20

func newCertificate(t *terminal) *cobra.Command {
	return noun("certificate", "Proofs that numbers are prime or composite, verified without a server", newCertificateVerify(t))
}

// certificateVerifyOptions are the flags of `ostraka certificate verify`.
type certificateVerifyOptions struct {
	outputFlag
	terminal *terminal
}

func newCertificateVerify(t *terminal) *cobra.Command {
	o := &certificateVerifyOptions{terminal: t}
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "Verify certificates of primes here, without a server", Args: arguments(1),
		Long: `Verify certificates here; no server is asked, and no other program. FILE (- is stdin) holds certificates that begin with
"` + certificate.Header + `", one after the other, as Math::Prime::Util writes them too. Or it holds a statement about a
number on each line, as the function certify returns it and ostraka job results prints it: a certificate, a verdict of
Miller-Rabin, a factor or a witness.

Each step of a certificate is checked, and that they lead from the number to primes below 2^64, which Miller-Rabin to
the first 13 prime bases decides. The exit code is 0 only when everything in the file is proved. What is not proved may
be true all the same: a wrong proof says nothing about its number.`,
		Example: `  ostraka certificate verify prime.txt
  ostraka job results JOB | ostraka certificate verify -`,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args[0]) },
	}
	o.register(cmd.Flags())
	return cmd
}

func (o *certificateVerifyOptions) run(path string) error {
	if err := o.check(); err != nil {
		return err
	}
	text, err := o.read(path)
	if err != nil {
		return err
	}
	all := verifyCertificates(text)
	if len(all) == 0 {
		return &exitError{code: exitFailed, err: fmt.Errorf("%s: there is no certificate: neither a line %q nor a line of JSON", path, certificate.Header)}
	}
	return o.show(all)
}

func (o *certificateVerifyOptions) read(path string) ([]byte, error) {
	in := o.terminal.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, usageError("reading the certificates: %v", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxCertificateFile+1))
	if err != nil {
		return nil, usageError("reading the certificates: %v", err)
	}
	if len(text) > maxCertificateFile {
		return nil, usageError("%s has more than %d bytes: cut it, and verify the parts", path, maxCertificateFile)
	}
	return text, nil
}

// verifiedCertificate is the outcome of a certificate, or of a statement.
type verifiedCertificate struct {
	Line    int                `json:"line"`
	Proved  bool               `json:"proved"`
	N       string             `json:"n,omitempty"`
	Digits  int                `json:"digits,omitempty"`
	Verdict string             `json:"verdict,omitempty"`
	Theorem string             `json:"theorem,omitempty"`
	Proof   *certificate.Proof `json:"proof,omitempty"`
	Error   string             `json:"error,omitempty"`
}

func verifyCertificates(text []byte) (all []verifiedCertificate) {
	if first := bytes.TrimLeft(text, " \t\r\n"); len(first) > 0 && first[0] == '{' {
		line := 0
		for text := range bytes.Lines(text) {
			line++
			if text = bytes.TrimSpace(text); len(text) > 0 {
				all = append(all, verifyStatement(text, line))
			}
		}
		return all
	}
	parts, lines := certificate.Split(text)
	for i, part := range parts {
		all = append(all, verifyCertificate(part, lines[i]))
	}
	return all
}

func verifyCertificate(text []byte, line int) verifiedCertificate {
	v := verifiedCertificate{Line: line}
	c, err := certificate.Parse(text, line)
	var p certificate.Proof
	if err == nil {
		v.N, v.Digits = c.N.String(), len(c.N.String())
		p, err = c.Verify()
	}
	if err != nil {
		v.Error = err.Error()
		return v
	}
	v.Proved, v.Verdict, v.Proof = true, certificate.Prime, &p
	return v
}

// verifyStatement verifies a statement, or the line of ostraka job results that has it as its output.
func verifyStatement(text []byte, line int) verifiedCertificate {
	v := verifiedCertificate{Line: line}
	var result struct {
		Shard  *int64          `json:"shard"`
		Output json.RawMessage `json:"output"`
	}
	if json.Unmarshal(text, &result) == nil && result.Shard != nil {
		text = result.Output
	}
	s, err := certificate.ParseStatement(text)
	var shown certificate.Shown
	if err == nil {
		v.N, v.Digits = s.N, len(s.N)
		shown, err = s.Verify()
	}
	if err != nil {
		v.Error = fmt.Sprintf("line %d: %v", line, err)
		return v
	}
	v.Proved, v.Verdict, v.Theorem, v.Proof = true, shown.Verdict, shown.Theorem, shown.Proof
	return v
}

func (o *certificateVerifyOptions) show(all []verifiedCertificate) error {
	wrong := int64(0)
	for _, v := range all {
		if !v.Proved {
			wrong++
			o.terminal.say("%s", plain(v.Error))
		}
	}
	if err := o.print(all); err != nil {
		return err
	}
	if wrong > 0 {
		err := fmt.Errorf("%d of %s proved nothing", wrong, count(int64(len(all)), "proof"))
		if len(all) == 1 {
			err = errors.New("the proof does not hold")
		}
		return &exitError{code: exitFailed, err: err, hint: "a proof that does not hold says nothing about its number: have another one made"}
	}
	return nil
}

func (o *certificateVerifyOptions) print(all []verifiedCertificate) error {
	if o.json() {
		return writeValue(o.terminal.out, all)
	}
	if len(all) == 1 && all[0].Proved && all[0].Proof != nil {
		return o.printSteps(all[0])
	}
	table := newTable(o.terminal.out, "LINE", "NUMBER", "DIGITS", "PROVED", "BY")
	for _, v := range all {
		table.row(strconv.Itoa(v.Line), shortNumber(v.N), strconv.Itoa(v.Digits), firstOf(v.Verdict, "nothing"), provedBy(v))
	}
	return table.flush()
}

// printSteps prints one certificate step by step.
func (o *certificateVerifyOptions) printSteps(v verifiedCertificate) error {
	if err := printFields(o.terminal, [][2]string{{"number", v.N}, {"digits", strconv.Itoa(v.Digits)}, {"proved", v.Verdict}, {"by", provedBy(v)}}); err != nil {
		return err
	}
	if len(v.Proof.Steps) == 0 {
		return nil
	}
	o.terminal.put("\n")
	table := newTable(o.terminal.out, "LINE", "STEP", "PRIME", "IF THESE ARE", "BY")
	for _, s := range v.Proof.Steps {
		on := make([]string, len(s.RestsOn))
		for i, q := range s.RestsOn {
			on[i] = shortNumber(q)
		}
		table.row(strconv.Itoa(s.Line), s.Type, shortNumber(s.N), firstOf(strings.Join(on, ", "), "-"), s.Theorem)
	}
	return table.flush()
}

// provedBy says in a few words what proved a number.
func provedBy(v verifiedCertificate) string {
	if v.Proof == nil {
		return firstOf(v.Theorem, "-")
	}
	steps := map[string]int64{}
	for _, s := range v.Proof.Steps {
		steps[s.Type]++
	}
	var words []string
	for _, kind := range slices.Sorted(maps.Keys(steps)) {
		words = append(words, count(steps[kind], kind+" step"))
	}
	if n := int64(len(v.Proof.Small)); n > 0 {
		words = append(words, count(n, "number")+" below 2^64 by Miller-Rabin")
	}
	return strings.Join(words, ", ")
}

// shortNumber is a number that fits into a row.
func shortNumber(n string) string {
	const most, head, tail = 40, 16, 16
	if n == "" {
		return "-"
	}
	if len(n) <= most {
		return n
	}
	return n[:head] + "…" + n[len(n)-tail:]
}
