package prefs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/ostraka/ostraka/agent/wholefile"
)

// File is the file as it was at one look.
type File struct {
	Content  []byte
	There    bool
	Modified time.Time
}

// Same says whether the file was not written between two looks.
func (f File) Same(g File) bool {
	return f.There == g.There && f.Modified.Equal(g.Modified) && string(f.Content) == string(g.Content)
}

// Look reads the file together with its time.
func Look(path string) (File, error) {
	info, err := os.Stat(path) // before it is read: what is written in between changes the time for the next look
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, fmt.Errorf("reading the preferences: %w", err)
	}
	content, err := Read(path)
	return File{Content: content, There: true, Modified: info.ModTime()}, err
}

// Read reads the bytes of the file; none where there is no file.
func Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the preferences: %w", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the preferences: %w", err)
	}
	return content, nil
}

// Parse reads the content of the file. Its errors name the line, what is wrong with it and what to write instead; there may be
// several.
func Parse(content []byte) (Preferences, error) {
	if len(content) > MaxBytes {
		return Preferences{}, fmt.Errorf("the file has more than %d bytes", MaxBytes)
	}
	values := map[string]any{}
	if err := toml.Unmarshal(content, &values); err != nil {
		return Preferences{}, syntax(err)
	}
	p := Default()
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return lineOf(content, a) - lineOf(content, b) })
	var wrong []error
	for _, name := range names {
		if err := readValue(&p, name, values[name]); err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %s: %w", lineOf(content, name), name, err))
		}
	}
	if len(wrong) > 0 {
		return Preferences{}, errors.Join(wrong...)
	}
	return p, p.agree()
}

func readValue(p *Preferences, name string, value any) error {
	key, found := find(name)
	if !found {
		return fmt.Errorf("there is no such preference: mend the spelling or remove the line; ostraka agent prefs show lists all")
	}
	return key.read(p, value)
}

// agree checks what one line alone cannot say, and fills in what follows from others.
func (p *Preferences) agree() error {
	if p.BusyBelow > 0 && p.BusyAbove == 0 {
		return errors.New("busy_below means nothing without busy_above: set that too")
	}
	if p.BusyAbove > 0 && p.BusyBelow == 0 {
		p.BusyBelow = p.BusyAbove * 2 / 3
	}
	if p.BusyAbove > 0 && p.BusyBelow >= p.BusyAbove {
		return fmt.Errorf("busy_below is %d and busy_above is %d: the agent would stop and go on at once; choose a lower busy_below", p.BusyBelow, p.BusyAbove)
	}
	if p.BatteryAbove > 0 && !p.OnBattery {
		return errors.New("battery_above means nothing without on_battery = true: set that too, or remove it")
	}
	if p.MemoryBytes > 0 && p.Function.MemoryBytes > p.MemoryBytes {
		return errors.New("function_memory is more than memory, which all functions share: lower it")
	}
	if p.DiskBytes > 0 && p.Function.DiskBytes > p.DiskBytes {
		return errors.New("function_disk is more than disk, which all functions share: lower it")
	}
	return nil
}

func syntax(err error) error {
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, column := decode.Position()
		return fmt.Errorf("line %d, column %d: it is not TOML (%s): write one preference on a line, like sandboxes = 2", row, column, strings.TrimPrefix(err.Error(), "toml: "))
	}
	return fmt.Errorf("it is not TOML: %s: remove or mend the line", strings.TrimPrefix(err.Error(), "toml: "))
}

// lineOf is where a key stands in the file, or 1 where it is written in a way that hides it.
func lineOf(content []byte, name string) int {
	pattern := regexp.MustCompile(`^\s*\[*\s*"?'?` + regexp.QuoteMeta(name) + `\b`)
	for i, line := range strings.Split(string(content), "\n") {
		if pattern.MatchString(line) {
			return i + 1
		}
	}
	return 1
}

// Line is one preference as it stands: what is set, or what holds because nothing is.
type Line struct {
	Key   Key
	Value string // as it is written in the file; "" where nothing is limited
	IsSet bool
}

// Describe lists all preferences with their values.
func Describe(content []byte) ([]Line, error) {
	p, err := Parse(content)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	if err := toml.Unmarshal(content, &values); err != nil {
		return nil, syntax(err)
	}
	var lines []Line
	for _, key := range Keys() {
		_, set := values[key.Name]
		lines = append(lines, Line{Key: key, Value: key.show(&p), IsSet: set})
	}
	return lines, nil
}

func quote(s string) string { return strconv.Quote(s) }

// save puts the file in place whole or not at all. It holds no secret and may be written by an administrator for an agent that runs as
// another user, so that everybody who gets into the directory may read it.
func save(path string, content []byte) error {
	if _, err := Parse(content); err != nil {
		return fmt.Errorf("writing the preferences: %w", err)
	}
	if len(content) == 0 {
		content = []byte("# nothing is limited\n") // an agent takes an empty file for an accident
	}
	if err := wholefile.Write(path, content, 0o644); err != nil {
		return fmt.Errorf("writing the preferences: %w", err)
	}
	return nil
}
