package deploy

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const chart = "helm/ostraka"

// kubernetes is the version that the chart is rendered for, of which we have the schemas. A helm that was built from its module takes one that is long gone.
const kubernetes = "1.33.0"

// kubernetesTool runs "helm" or "kubeconform" as scripts/setup.sh has built it.
func kubernetesTool(t *testing.T, stdin []byte, name string, args ...string) (out []byte, err error) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../.cache/bin", name))
	require.NoError(t, err)
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), &said
	out, err = cmd.Output()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit, "scripts/setup.sh test ./deploy builds it")
		err = errors.New(said.String() + string(out))
	}
	return out, err
}

// rendered is what the chart makes of a file of values, by kind and name.
func rendered(t *testing.T, values string) (text []byte, objects map[string]map[string]any) {
	t.Helper()
	text, err := kubernetesTool(t, nil, "helm", "template", "try", chart, "--kube-version", kubernetes, "--namespace", "ostraka", "--values", values)
	require.NoError(t, err)
	objects = map[string]map[string]any{}
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var object map[string]any
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return text, objects
		}
		require.NoError(t, err)
		objects[object["kind"].(string)+" "+at(object, "metadata", "name").(string)] = object
	}
}

// at is what stands in an object under some names.
func at(object any, names ...string) any {
	for _, name := range names {
		m, is := object.(map[string]any)
		if !is {
			return nil
		}
		object = m[name]
	}
	return object
}

// TestChart lints the chart, renders it with the least and with the most that can be said, and holds what comes out to Kubernetes' schemas.
func TestChart(t *testing.T) {
	t.Parallel()
	for name, kinds := range map[string][]string{
		"least": {"Deployment try", "NetworkPolicy try", "PodDisruptionBudget try", "Service try", "Service try-metrics", "ServiceAccount try"},
		"most": {
			"Deployment try", "HorizontalPodAutoscaler try", "Ingress try", "NetworkPolicy try", "PodDisruptionBudget try", "Service try", "Service try-metrics", "ServiceAccount try",
		},
	} {
		values := filepath.Join(chart, "ci", name+"-values.yaml")
		_, err := kubernetesTool(t, nil, "helm", "lint", chart, "--strict", "--kube-version", kubernetes, "--values", values)
		require.NoError(t, err)
		text, objects := rendered(t, values)
		require.ElementsMatch(t, kinds, namesIn(objects), name)
		_, err = conform(t, text)
		require.NoError(t, err, name)
		requireServer(t, objects["Deployment try"])
		require.Equal(t, name == "least", at(objects["Deployment try"], "spec", "replicas") != nil, "an autoscaler and a number would fight")
	}
}

func conform(t *testing.T, text []byte) ([]byte, error) {
	t.Helper()
	return kubernetesTool(t, text, "kubeconform", "-strict", "-summary", "-schema-location", "helm/schemas/{{.ResourceKind}}{{.KindSuffix}}.json", "-")
}

func namesIn(objects map[string]map[string]any) (names []string) {
	for name := range objects {
		names = append(names, name)
	}
	return names
}

// requireServer wants the flags to exist, no right that a server does not need, and no secret.
func requireServer(t *testing.T, deployment map[string]any) {
	t.Helper()
	pod := at(deployment, "spec", "template", "spec")
	container := at(pod, "containers").([]any)[0]
	var args []string
	for _, arg := range at(container, "args").([]any) {
		args = append(args, arg.(string))
	}
	requireFlags(t, args)
	require.Equal(t, false, at(pod, "automountServiceAccountToken"))
	require.Equal(t, true, at(pod, "securityContext", "runAsNonRoot"))
	require.Equal(t, true, at(container, "securityContext", "readOnlyRootFilesystem"))
	require.Equal(t, []any{"ALL"}, at(container, "securityContext", "capabilities", "drop"))
	require.Nil(t, at(container, "env"), "a secret would stand in the chart's values, and in Helm's history")
}

// TestWrongValuesAreRefused wants the chart to say no where a cluster would fail later, and the schemas to find what is wrong.
func TestWrongValuesAreRefused(t *testing.T) {
	t.Parallel()
	least := filepath.Join(chart, "ci", "least-values.yaml")
	for set, why := range map[string]string{
		"image.tag=latest":          "image/tag",
		"image.repository=":         "image/repository",
		"objects.endpoint=":         "objects/endpoint",
		"replica=3":                 "replica",
		"ingress.enabled=true":      "host",
		"extraArgs[0]=archive-jobs": "extraArgs",
	} {
		_, err := kubernetesTool(t, nil, "helm", "template", "try", chart, "--kube-version", kubernetes, "--values", least, "--set", set)
		require.ErrorContains(t, err, why, set)
	}
	text, _ := rendered(t, least)
	_, err := conform(t, bytes.Replace(text, []byte("minAvailable"), []byte("minAvailble"), 1))
	require.ErrorContains(t, err, "minAvailble")
}
