package prefs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// Key is one preference: its name in the file, what it means, and how it is read and shown.
type Key struct {
	Name    string
	About   string
	Example string // as it stands in the file
	kind    kind
	read    func(p *Preferences, value any) error
	show    func(p *Preferences) string // as it stands in the file; "" where nothing is set
}

// kind says how a value is written in the file.
type kind int

const (
	number kind = iota
	size        // a number, or text such as "2Gi"
	text
	list
	boolean
	tables // as TOML writes it
)

// Keys are all preferences, in the order in which they are shown.
func Keys() []Key {
	return slices.Concat(keysOfTheMachine(), keysOfFunctions(), keysOfPartners(), keysOfTheGuardian(), keysOfVolumes(), keysOfTime())
}

func keysOfTheMachine() []Key {
	return []Key{
		whole("sandboxes", "functions that run at a time; --workers lowers it", "2", 1, MaxSandboxes, func(p *Preferences) *int { return &p.Sandboxes }),
		whole("cores", "processors that all functions together may use; no more functions than that run at a time", "2", 1, 4096, func(p *Preferences) *int { return &p.Cores }),
		bytes("memory", "what the limits of all functions that run may add up to", "4Gi", 64<<20, func(p *Preferences) *int64 { return &p.MemoryBytes }),
		bytes("disk", "what the disk limits of all functions that run, input files, the kept bundles and runtimes and unsent results may add up to; a runtime may have an eighth of it", "10Gi", 64<<20, func(p *Preferences) *int64 { return &p.DiskBytes }),
		bytes("inputs", "how much of that kept input files may take, so that they are not fetched again; left out: an eighth of disk, or 1Gi", "256Mi", 1, func(p *Preferences) *int64 { return &p.InputsBytes }),
		bytes("keep_free", "how much of the disk stays free for others; below it the agent pauses", "1Gi", 0, func(p *Preferences) *int64 { return &p.KeepFreeBytes }),
	}
}

func keysOfFunctions() []Key {
	limits := bundle.MaxLimits()
	return []Key{
		{
			Name: "min_isolation", About: "the weakest sandbox in which functions may run here: process, landlock, linux-nocgroup, linux, wasm, container or gvisor", Example: `"linux"`, kind: text,
			read: func(p *Preferences, value any) error {
				level, err := bundle.ParseIsolation(textOf(value))
				p.Function.MinIsolation = level
				return err
			},
			show: func(p *Preferences) string { return quote(string(p.Function.MinIsolation)) },
		},
		bytes("function_memory", "refuse functions whose limit of memory is higher", "512Mi", bundle.MinLimits().MemoryBytes, func(p *Preferences) *int64 { return &p.Function.MemoryBytes }),
		bytes("function_disk", "refuse functions whose limit of disk is higher", "1Gi", 1, func(p *Preferences) *int64 { return &p.Function.DiskBytes }),
		whole64("function_wall", "refuse functions one shard of which may take longer, in seconds on the clock", "600", limits.WallSeconds, func(p *Preferences) *int64 { return &p.Function.WallSeconds }),
		whole64("function_cpu", "refuse functions one shard of which may compute longer, in seconds", "300", limits.CPUSeconds, func(p *Preferences) *int64 { return &p.Function.CPUSeconds }),
		whole64("function_pids", "refuse functions one shard of which may have more processes", "16", limits.Pids, func(p *Preferences) *int64 { return &p.Function.Pids }),
		bytes("bundle", "refuse functions whose bundle is larger", "4Mi", 1, func(p *Preferences) *int64 { return &p.Function.BundleBytes }),
		{
			Name: "network", About: `what functions may reach; "none" is all there is so far`, Example: `"none"`, kind: text,
			read: func(_ *Preferences, value any) error {
				if textOf(value) != bundle.NetworkNone {
					return fmt.Errorf(`functions have no network here: write "none", or leave the line out`)
				}
				return nil
			},
			show: func(*Preferences) string { return quote(bundle.NetworkNone) },
		},
	}
}

func keysOfPartners() []Key {
	return []Key{
		listed("projects", "work for these projects only, by their IDs", `["0192…"]`, uuid.Parse, uuid.UUID.String, func(p *Preferences) *[]uuid.UUID { return &p.Projects }),
		listed("projects_denied", "never work for these projects", `["0192…"]`, uuid.Parse, uuid.UUID.String, func(p *Preferences) *[]uuid.UUID { return &p.ProjectsDenied }),
		listed("functions_denied", "never run these functions: names, or digests of bundles", `["miner"]`, parseFunction, func(s string) string { return s },
			func(p *Preferences) *[]string { return &p.FunctionsDenied }),
		yesNo("wasm_denied", "never run functions in WebAssembly, whose sandbox is the same on every system", func(p *Preferences) *bool { return &p.WasmDenied }),
		yesNo("runtimes_denied", "never run functions that bring native code along in a runtime", func(p *Preferences) *bool { return &p.RuntimesDenied }),
		yesNo("allow_unsigned", "run functions that their project's owner has not signed: then whoever controls the server decides what runs here", func(p *Preferences) *bool { return &p.AllowUnsigned }),
	}
}

func keysOfTime() []Key {
	return []Key{
		listed("days", "days on which the agent works: mon, tue, wed, thu, fri, sat, sun", `["sat", "sun"]`, parseDay, func(d time.Weekday) string { return dayNames[d] },
			func(p *Preferences) *[]time.Weekday { return &p.Schedule.Days }),
		listed("hours", "times of the day at which it works; what passes midnight belongs to the day on which it begins", `["22:00-06:00"]`, ParseInterval, Interval.String,
			func(p *Preferences) *[]Interval { return &p.Schedule.Hours }),
		{
			Name: "time_zone", About: "by whose clock; left out: the machine's", Example: `"Europe/Athens"`, kind: text,
			read: func(p *Preferences, value any) (err error) {
				name := textOf(value)
				if p.Schedule.Zone, err = time.LoadLocation(name); err != nil || name == "" {
					return fmt.Errorf("this machine knows no time zone %q: write a name such as \"Europe/Athens\", or leave the line out", name)
				}
				return nil
			},
			show: func(p *Preferences) string {
				if p.Schedule.Zone == nil {
					return ""
				}
				return quote(p.Schedule.Zone.String())
			},
		},
		yesNo("on_battery", "work without mains too", func(p *Preferences) *bool { return &p.OnBattery }),
		whole("battery_above", "with on_battery: only while the battery has more percent than this", "50", 0, 99, func(p *Preferences) *int { return &p.BatteryAbove }),
		whole("busy_above", "pause while other programs take more percent of all processors than this", "50", 1, 99, func(p *Preferences) *int { return &p.BusyAbove }),
		whole("busy_below", "go on when they take less percent than this; left out: two thirds of busy_above", "30", 0, 98, func(p *Preferences) *int { return &p.BusyBelow }),
	}
}

// find is the key of a name.
func find(name string) (Key, bool) {
	for _, k := range Keys() {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

func yesNo(name, about string, of func(*Preferences) *bool) Key {
	return Key{
		Name: name, About: about, Example: "true", kind: boolean,
		read: func(p *Preferences, value any) error {
			on, ok := value.(bool)
			if !ok {
				return fmt.Errorf("write true or false")
			}
			*of(p) = on
			return nil
		},
		show: func(p *Preferences) string { return strconv.FormatBool(*of(p)) },
	}
}

func whole[N int | int64](name, about, example string, least, most N, of func(*Preferences) *N) Key {
	return Key{
		Name: name, About: about, Example: example, kind: number,
		read: func(p *Preferences, value any) error {
			n, ok := value.(int64)
			if !ok || N(n) < least || N(n) > most {
				return fmt.Errorf("write a whole number from %d to %d, without quotes", least, most)
			}
			*of(p) = N(n)
			return nil
		},
		show: func(p *Preferences) string { return unlessZero(*of(p)) },
	}
}

func whole64(name, about, example string, most int64, of func(*Preferences) *int64) Key {
	return whole(name, about, example, 1, most, of)
}

func unlessZero[N int | int64](n N) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

func bytes(name, about, example string, least int64, of func(*Preferences) *int64) Key {
	return Key{
		Name: name, About: about, Example: quote(example), kind: size,
		read: func(p *Preferences, value any) error {
			n, isNumber := value.(int64)
			if !isNumber {
				var err error
				if n, err = bundle.ParseBytes(textOf(value)); err != nil {
					return fmt.Errorf(`write a size such as "512Mi" or "2Gi"`)
				}
			}
			if n < least {
				return fmt.Errorf("%d bytes are too few: %d at least", n, least)
			}
			*of(p) = n
			return nil
		},
		show: func(p *Preferences) string {
			if *of(p) == 0 {
				return ""
			}
			return quote(bundle.FormatBytes(*of(p)))
		},
	}
}

func listed[T cmp.Ordered | uuid.UUID | Interval](name, about, example string, parse func(string) (T, error), format func(T) string, of func(*Preferences) *[]T) Key {
	return Key{
		Name: name, About: about, Example: example, kind: list,
		read: func(p *Preferences, value any) error {
			items, ok := value.([]any)
			if !ok || len(items) == 0 || len(items) > MaxListed {
				return fmt.Errorf("write a list of 1 to %d, like %s, or leave the line out", MaxListed, example)
			}
			var all []T
			for _, item := range items {
				one, err := parse(textOf(item))
				if err != nil {
					return fmt.Errorf("%q: %w", textOf(item), err)
				}
				if slices.Contains(all, one) {
					return fmt.Errorf("%s stands in the list twice", format(one))
				}
				all = append(all, one)
			}
			*of(p) = all
			return nil
		},
		show: func(p *Preferences) string {
			if len(*of(p)) == 0 {
				return ""
			}
			return listOf(*of(p), format)
		},
	}
}

// listOf is a list as TOML writes it.
func listOf[T any](all []T, format func(T) string) string {
	items := make([]string, len(all))
	for i, one := range all {
		items[i] = quote(format(one))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

var functionPattern = regexp.MustCompile(`^([a-z][a-z0-9-]{0,62}|[0-9a-f]{64})$`)

func parseFunction(s string) (string, error) {
	if !functionPattern.MatchString(s) {
		return "", fmt.Errorf("write a function's name, or the 64 characters of its bundle's digest")
	}
	return s, nil
}

// textOf is a text value; what is no text reads as a text that means nothing.
func textOf(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	return fmt.Sprint(value)
}
