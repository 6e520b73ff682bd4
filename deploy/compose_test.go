package deploy

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

type composeService struct {
	Image       string
	Command     []string
	Environment map[string]string
	DependsOn   yaml.Node `yaml:"depends_on"` // a list or a map
	Networks    []string
	Volumes     []string
	Ports       []string
	ReadOnly    bool     `yaml:"read_only"`
	CapDrop     []string `yaml:"cap_drop"`
}

// TestCompose reads the file as YAML, since Debian has no program of Docker's that would: that what it names is there, and that the program
// knows the flags which it is given.
func TestCompose(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("compose.yaml")
	require.NoError(t, err)
	var file struct {
		Services map[string]composeService
		Networks map[string]any
		Volumes  map[string]any
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	require.Len(t, file.Services, 5)
	for name, s := range file.Services {
		require.Regexp(t, `^[a-z./]+:.+$`, s.Image, "%s: an image without a tag is another one tomorrow", name)
		require.NotContains(t, s.Image, "latest")
		for _, network := range s.Networks {
			require.Contains(t, file.Networks, network, name)
		}
		for _, volume := range s.Volumes {
			require.Contains(t, file.Volumes, strings.SplitN(volume, ":", 2)[0], name)
		}
		for _, other := range namesOf(s.DependsOn) {
			require.Contains(t, file.Services, other, name)
		}
		require.Equal(t, name == "proxy", len(s.Ports) > 0, "%s: only the proxy is reached from outside", name)
		for variable, value := range s.Environment {
			if strings.Contains(variable, "PASSWORD") || strings.Contains(variable, "KEY") || strings.Contains(variable, "URL") {
				require.Regexp(t, `\$\{[A-Z0-9_]+:\?`, value, "%s: a secret stands in %s", name, variable)
			}
		}
	}
	for _, name := range []string{"server-1", "server-2"} {
		s := file.Services[name]
		require.True(t, s.ReadOnly)
		require.Equal(t, []string{"ALL"}, s.CapDrop)
		requireFlags(t, s.Command)
		require.Contains(t, string(text), "subnet: "+flagOf(s.Command, "--trusted-proxy"))
	}
}

func namesOf(list yaml.Node) (names []string) {
	for i, n := range list.Content {
		if list.Kind == yaml.SequenceNode || i%2 == 0 {
			names = append(names, n.Value)
		}
	}
	return names
}

func requireFlags(t *testing.T, command []string) {
	t.Helper()
	binary, err := program()
	require.NoError(t, err)
	help, err := exec.CommandContext(t.Context(), binary, command[0], "--help").Output()
	require.NoError(t, err)
	for _, word := range command[1:] {
		require.Regexp(t, `(?m)^ +`+regexp.QuoteMeta(strings.SplitN(word, "=", 2)[0])+` `, string(help), "there is no such flag")
	}
}

func flagOf(command []string, name string) string {
	for _, word := range command {
		if value, found := strings.CutPrefix(word, name+"="); found {
			return value
		}
	}
	return ""
}
