// Package deploy holds what an installation is run with: alerts for Prometheus, a dashboard for Grafana, a Helm chart, and in image what packs the
// program for containers. Its tests hold these against a server that runs, so that no alert waits for a metric that does not exist.
package deploy
