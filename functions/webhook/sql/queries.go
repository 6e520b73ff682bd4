// Package sql holds the queries that only webhook makes, each named after its file.
package sql

import (
	"embed"

	"github.com/ostraka/ostraka/functions/store"
)

//go:embed *.sql
var files embed.FS

// The queries.
var (
	AddDeliveries    = store.Load(files, "add_deliveries")
	AddSecret        = store.Load(files, "add_secret")
	AddTest          = store.Load(files, "add_test")
	AddWebhook       = store.Load(files, "add_webhook")
	BeginDeliveries  = store.Load(files, "begin_deliveries")
	CountOpen        = store.Load(files, "count_open")
	CountWebhooks    = store.Load(files, "count_webhooks")
	DeleteSecret     = store.Load(files, "delete_secret")
	DeleteWebhook    = store.Load(files, "delete_webhook")
	DropDeliveries   = store.Load(files, "drop_deliveries")
	EndTry           = store.Load(files, "end_try")
	FailingFor       = store.Load(files, "failing_for")
	ForgetEvents     = store.Load(files, "forget_events")
	Gate             = store.Load(files, "gate")
	GetDelivery      = store.Load(files, "get_delivery")
	GetWebhook       = store.Load(files, "get_webhook")
	HastenDeliveries = store.Load(files, "hasten_deliveries")
	ListDeliveries   = store.Load(files, "list_deliveries")
	ListWebhooks     = store.Load(files, "list_webhooks")
	LockWebhook      = store.Load(files, "lock_webhook")
	LockWebhooks     = store.Load(files, "lock_webhooks")
	MarkSpread       = store.Load(files, "mark_spread")
	NewEvents        = store.Load(files, "new_events")
	NoteTry          = store.Load(files, "note_try")
	PauseWebhook     = store.Load(files, "pause_webhook")
	ReplaceSecret    = store.Load(files, "replace_secret")
	ReplayDelivery   = store.Load(files, "replay_delivery")
	ResumeWebhook    = store.Load(files, "resume_webhook")
	Secrets          = store.Load(files, "secrets")
	TakeLooks        = store.Load(files, "take_looks")
	UpdateWebhook    = store.Load(files, "update_webhook")
	WhoWants         = store.Load(files, "who_wants")
)
