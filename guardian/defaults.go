package guardian

import "sync"

// CodeModule is the built-in heuristic whose findings the built-in rules read.
const CodeModule = "code-risk"

// onCode are the operations that know what a heuristic has found in a function.
var onCode = []Kind{FunctionPublish, JobSubmit, JobFollowUp, JobSchedule, JobDispatch, JobRecheck, SandboxOpen}

// Defaults are the built-in rules. They ship with the program and cannot be removed.
func Defaults() []Rule {
	found := func(name string, then Verdict, risk Risk, finding, reason string) Rule {
		return Rule{
			ID: name, Name: name, Version: 1, Layer: Builtin, On: onCode, When: reads(finding),
			Risk: risk, Then: then, Reason: reason, Enabled: true,
		}
	}
	return []Rule{
		found("no-shutdown", Deny, Critical, "shutdown", "it starts a program that shuts the machine down"),
		found("no-format", Deny, Critical, "format", "it starts a program that formats or overwrites a disk"),
		found("no-wipe", Deny, Critical, "wipe", "it deletes everything below / or below a home"),
		found("no-privilege", Deny, Critical, "privilege", "it becomes another user, by sudo, su or the like"),
		found("no-install", Deny, High, "install", "it installs packages while it runs: there is no network; put what it needs into its bundle"),
		found("ask-scanner", Ask, High, "scanner", "it uses a network scanner"),
		found("ask-privileged", Ask, High, "privileged", "it uses a privileged tool, such as mount or docker"),
		found("risk-of-mining", Allow, High, "mining", "it has the marks of a coin miner"),
		found("risk-of-hidden-code", Allow, High, "hidden", "it hides what it calls"),
		found("risk-of-escape", Allow, High, "escape", "it climbs out of the objects that it was given"),
		{
			ID: "ask-native-code", Name: "ask-native-code", Version: 1, Layer: Builtin, On: []Kind{RuntimePublish}, When: `!runtime.publisher_known`,
			Risk: High, Then: Ask, Reason: "it brings native code of somebody who has published none in this project yet", Enabled: true,
		},
		{
			ID: "risk-of-native-code", Name: "risk-of-native-code", Version: 1, Layer: Builtin, On: onCode, When: `code.runtime != ""`,
			Risk: High, Then: Allow, Reason: "it brings native code along in a runtime, which nothing has read", Enabled: true,
		},
		{
			ID: "ask-write-volume", Name: "ask-write-volume", Version: 1, Layer: Builtin, On: onCode, When: `code.volumes.exists(v, v.mode == "rw")`,
			Risk: High, Then: Ask, Reason: "it wants to write to a folder of the machines that run it", Enabled: true,
		},
		{
			ID: "risk-of-unread-code", Name: "risk-of-unread-code", Version: 1, Layer: Builtin, On: onCode, When: `!scored || findings.exists(f, f.rule == "unread")`,
			Risk: High, Then: Allow, Reason: "nothing has read all of its code", Enabled: true,
		},
	}
}

// Evidence is the heaviest finding for which a built-in rule applies, where it is one that reads findings.
func Evidence(rule string, findings []Finding) (heaviest Finding, found bool) {
	for _, r := range Defaults() {
		if r.Name != rule {
			continue
		}
		for _, f := range findings {
			if r.When == reads(f.Rule) && f.Line > 0 && (!found || f.Weight > heaviest.Weight) {
				heaviest, found = f, true
			}
		}
	}
	return heaviest, found
}

// reads is the condition that there is a finding of a rule.
func reads(finding string) string { return `findings.exists(f, f.rule == "` + finding + `")` }

// CompiledDefaults are the built-in rules, compiled once.
func CompiledDefaults() ([]*Compiled, error) { return compiledDefaults() }

var compiledDefaults = sync.OnceValues(func() (list []*Compiled, err error) {
	for _, r := range Defaults() {
		c, err := Compile(r)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
})
