package api_test

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive"
)

func (f *fake) ArchiveJob(_ context.Context, by functions.Principal, _, job uuid.UUID) (functions.JobArchive, error) {
	return functions.JobArchive{Job: job, State: functions.ArchiveWriting, AskedBy: by.Actor()}, f.begin()
}

func (f *fake) GetArchive(_ context.Context, _, job uuid.UUID) (functions.JobArchive, error) {
	return functions.JobArchive{Job: job, State: functions.ArchiveDone}, f.begin()
}

func (f *fake) ListArchives(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]functions.JobArchive, error) {
	return list(f, page, func(int) functions.JobArchive {
		return functions.JobArchive{Job: thingID, State: functions.ArchiveDone}
	})
}

func (f *fake) ImportArchive(_ context.Context, by functions.Principal, _ uuid.UUID, _ archive.Import) (functions.JobArchive, error) {
	return functions.JobArchive{Job: thingID, State: functions.ArchiveDone, AskedBy: by.Actor()}, f.begin()
}
