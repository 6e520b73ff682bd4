//go:build linux

package main

import (
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// poolCollector tells /metrics about this process's connections to the database. They are read at each scrape and ask the database nothing.
type poolCollector struct{ pool *pgxpool.Pool }

var (
	poolConnections = prometheus.NewDesc("ostraka_database_connections", "Connections of this process to the database, by state.", []string{"state"}, nil)
	poolMost        = prometheus.NewDesc("ostraka_database_connections_max", "How many connections to the database this process opens at most.", nil, nil)
	poolWaits       = prometheus.NewDesc("ostraka_database_waits_total", "How often this process waited for a connection to the database, since all were in use.", nil, nil)
	poolWaited      = prometheus.NewDesc("ostraka_database_wait_seconds_total", "How long this process waited for connections to the database in all.", nil, nil)
)

// Describe implements prometheus.Collector.
func (poolCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{poolConnections, poolMost, poolWaits, poolWaited} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c poolCollector) Collect(out chan<- prometheus.Metric) {
	now := c.pool.Stat()
	gauge := func(d *prometheus.Desc, value int32, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value), labels...)
	}
	gauge(poolConnections, now.AcquiredConns(), "in_use")
	gauge(poolConnections, now.IdleConns(), "idle")
	gauge(poolConnections, now.ConstructingConns(), "opening")
	gauge(poolMost, now.MaxConns())
	out <- prometheus.MustNewConstMetric(poolWaits, prometheus.CounterValue, float64(now.EmptyAcquireCount()))
	out <- prometheus.MustNewConstMetric(poolWaited, prometheus.CounterValue, now.EmptyAcquireWaitTime().Seconds())
}
