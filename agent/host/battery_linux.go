package host

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
)

const powerSupplies = "/sys/class/power_supply"

func readBattery() Battery { return batteryIn(os.DirFS(powerSupplies)) }

// batteryIn reads what the kernel tells of power supplies. A machine runs on its battery when one discharges and no mains is online.
// Batteries of mice and headsets have the scope Device and do not count.
func batteryIn(supplies fs.FS) (b Battery) {
	entries, err := fs.ReadDir(supplies, ".")
	if err != nil {
		return b
	}
	mains, discharging := false, false
	var percents, batteries float64
	for _, e := range entries {
		read := func(name string) string {
			text, err := fs.ReadFile(supplies, e.Name()+"/"+name)
			if err != nil {
				return ""
			}
			return strings.TrimSpace(string(text))
		}
		switch kind := read("type"); {
		case kind == "Mains" || strings.HasPrefix(kind, "USB"):
			mains = mains || read("online") == "1"
		case kind == "Battery" && read("scope") != "Device":
			capacity, err := strconv.ParseFloat(read("capacity"), 64)
			if err != nil || capacity < 0 {
				continue
			}
			percents += min(capacity, 100)
			batteries++
			discharging = discharging || read("status") == "Discharging"
		}
	}
	if batteries == 0 {
		return Battery{}
	}
	return Battery{Known: true, On: discharging && !mains, Percent: percents / batteries}
}
