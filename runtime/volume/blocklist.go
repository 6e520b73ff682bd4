package volume

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Blocklist are the places of a machine that can never be a volume, nor hold one, nor be held by one.
type Blocklist struct {
	paths []string
}

// systemPaths are those of every machine: what the system is made of, and sockets through which a machine is commanded.
var systemPaths = []string{
	"/etc", "/proc", "/sys", "/dev", "/boot", "/root",
	"/run/docker.sock", "/var/run/docker.sock", "/run/containerd", "/var/run/containerd", "/run/podman", "/run/crio", "/run/systemd", "/run/user", "/run/secrets",
	"/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/var/lib/kubelet",
}

// keyFolders are the folders and files of a home that hold keys, by their names in it.
var keyFolders = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".password-store", ".local/share/keyrings", ".netrc", ".git-credentials",
}

// NewBlocklist knows this machine's places. own are the folders of the program itself: what it keeps there is private.
func NewBlocklist(own ...string) Blocklist {
	paths := slices.Clone(systemPaths)
	for _, home := range homes() {
		for _, folder := range keyFolders {
			paths = append(paths, filepath.Join(home, filepath.FromSlash(folder)))
		}
	}
	for _, path := range own {
		if absolute, err := filepath.Abs(path); err == nil && path != "" {
			paths = append(paths, absolute)
		}
	}
	for _, path := range slices.Clone(paths) { // /var/run is a link to /run, say, and /etc one to /private/etc
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			paths = append(paths, real)
		}
	}
	return Blocklist{paths: paths}
}

// homes are the homes of the people and services of this machine. That of a system account may be /, whose keys nobody keeps there.
func homes() (all []string) {
	if home, err := os.UserHomeDir(); err == nil {
		all = append(all, home)
	}
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return all
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) > 5 && filepath.IsAbs(fields[5]) && fields[5] != "/" {
			all = append(all, filepath.Clean(fields[5]))
		}
	}
	return all
}

// Check says why a path cannot be a volume, if it cannot. It is that of a folder, with no link in it.
func (b Blocklist) Check(path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fmt.Errorf("%s is no plain absolute path: write one that begins at / and has no . or .. in it", path)
	}
	if path == string(filepath.Separator) {
		return fmt.Errorf("/ can never be a volume: it holds everything that this machine has")
	}
	for _, blocked := range b.paths {
		switch {
		case within(path, blocked):
			return fmt.Errorf("%s can never be a volume: nothing in %s may be shown to functions", path, blocked)
		case within(blocked, path):
			return fmt.Errorf("%s can never be a volume: it holds %s, which may not be shown to functions; choose a folder that holds nothing but the data", path, blocked)
		}
	}
	for _, folder := range keyFolders {
		name := filepath.FromSlash(folder)
		if strings.Contains(path+"/", "/"+name+"/") {
			return fmt.Errorf("%s can never be a volume: %s is where keys lie", path, name)
		}
		if _, err := os.Lstat(filepath.Join(path, name)); err == nil { // the home of somebody whom /etc/passwd does not know
			return fmt.Errorf("%s can never be a volume: it holds %s, where keys lie; choose a folder that holds nothing but the data", path, name)
		}
	}
	return nil
}

// within says whether a path is a folder or lies below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// is says whether an open folder is one of the blocked ones under another name, such as a bind mount.
func (b Blocklist) is(folder os.FileInfo) error {
	for _, blocked := range append([]string{"/"}, b.paths...) {
		if info, err := os.Stat(blocked); err == nil && os.SameFile(info, folder) {
			return fmt.Errorf("it is %s under another name, which can never be a volume", blocked)
		}
	}
	return nil
}
