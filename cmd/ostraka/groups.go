package main

import (
	"github.com/spf13/cobra"
)

// addCommands puts the commands under the headings of the help.
func addCommands(root *cobra.Command, t *terminal, server *serverFlags) {
	for _, group := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"try", "Try it:", []*cobra.Command{newDemo(t), newDev(t), newSimulate(t)}},
		{"use", "Run functions:", []*cobra.Command{
			newFunction(t, server), newJob(t, server), newModule(t, server), newRuntime(t, server), newRule(t, server), newSchedule(t, server), newWorkflow(t, server), newWebhook(t, server), newFile(t, server), newObject(t, server), newFlag(t, server), newBulk(t, server), newFinding(t, server), newIncident(t, server), newReceipt(t), newArchive(t, server), newCertificate(t), newOpen(t, server),
			newLogin(t, server), newLogout(t), newWhoami(t, server), newContext(t),
		}},
		{"agents", "Agents:", []*cobra.Command{newAgent(t, server), newSandbox(t, server), newKillswitch(t, server), newEnrolmentToken(t, server)}},
		{"operate", "Run a server:", []*cobra.Command{
			newServerCommand(t), newConfig(t), newStatus(t, server), newTop(t, server), newDoctor(t), newMigrate(t), newBackup(t), newRestore(t), newOperatorKey(t), newProject(t, server), newKey(t, server), newSigningKey(t, server), newAudit(t, server), newGuardian(t, server), newApproval(t, server),
		}},
	} {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(newVersion(t), newOpenAPI(t))
}
