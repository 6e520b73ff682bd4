package harness

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object: nothing that is in it can leave it, and all of it ends with it.
type group struct {
	job   windows.Handle
	token windows.Token // without the privileges of the user; 0: as the user is
}

var (
	ntdll                     = windows.NewLazySystemDLL("ntdll.dll")
	advapi32                  = windows.NewLazySystemDLL("advapi32.dll")
	procNtResumeProcess       = ntdll.NewProc("NtResumeProcess")
	procCreateRestrictedToken = advapi32.NewProc("CreateRestrictedToken")
)

// disableMaxPrivilege takes every privilege but that of passing through folders.
const disableMaxPrivilege = 0x1

// jobTime is the unit of processor time of a job object, in nanoseconds.
const jobTime = 100

func newGroup(cfg *Config, _ *Shard, _ string) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: making a job object: %w", errHold, err)
	}
	g := &group{job: job}
	if err := g.limit(cfg); err != nil {
		g.close()
		return nil, err
	}
	if g.token, err = restrictedToken(); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// limit makes the kernel hold the job to memory, processes and processor time.
func (g *group) limit(cfg *Config) error {
	l := cfg.Manifest.Limits
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_JOB_MEMORY |
		windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS | windows.JOB_OBJECT_LIMIT_JOB_TIME | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	info.BasicLimitInformation.ActiveProcessLimit = uint32(l.Pids)
	info.BasicLimitInformation.PerJobUserTimeLimit = (l.CPUSeconds + 1) * int64(time.Second) / jobTime
	info.JobMemoryLimit = uintptr(l.MemoryBytes)
	_, err := windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		return fmt.Errorf("%w: limiting a job object: %w", errHold, err)
	}
	return nil
}

// restrictedToken is the user's without privileges. It can still do what the user can to the user's files.
func restrictedToken() (windows.Token, error) {
	var own, restricted windows.Token
	err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_DUPLICATE|windows.TOKEN_ASSIGN_PRIMARY|windows.TOKEN_QUERY, &own)
	if err != nil {
		return 0, fmt.Errorf("%w: opening this process's token: %w", errHold, err)
	}
	defer own.Close()
	ok, _, err := procCreateRestrictedToken.Call(uintptr(own), disableMaxPrivilege, 0, 0, 0, 0, 0, 0, uintptr(unsafe.Pointer(&restricted)))
	if ok == 0 {
		return 0, fmt.Errorf("%w: making a token without privileges: %w", errHold, err)
	}
	return restricted, nil
}

// prepare starts the command suspended, so that it runs nothing before it is in the job, and hands it the result pipe.
func (g *group) prepare(cmd *exec.Cmd, answer *os.File) (descriptor, handle uintptr, err error) {
	h := windows.Handle(answer.Fd())
	if err := windows.SetHandleInformation(h, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
		return 0, 0, fmt.Errorf("%w: handing down the result pipe: %w", errHold, err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow: true, CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
		Token: syscall.Token(g.token), AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(h)},
	}
	return 0, uintptr(h), nil
}

// hold puts the process into the job and lets it run.
func (g *group) hold(p *os.Process) error {
	const rights = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE | windows.PROCESS_SUSPEND_RESUME
	process, err := windows.OpenProcess(rights, false, uint32(p.Pid))
	if err != nil {
		return fmt.Errorf("%w: opening the interpreter: %w", errHold, err)
	}
	defer func() { _ = windows.CloseHandle(process) }() // it was opened
	if err := windows.AssignProcessToJobObject(g.job, process); err != nil {
		return fmt.Errorf("%w: putting the interpreter into the job: %w", errHold, err)
	}
	if status, _, _ := procNtResumeProcess.Call(uintptr(process)); status != 0 {
		return fmt.Errorf("%w: letting the interpreter run: status %#x", errHold, status)
	}
	return nil
}

func (g *group) countsMemory() bool { return true }

func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) } // gone already

// Walls are what holds functions back on Windows.
func Walls() []Wall {
	return []Wall{
		{"job object", true, "memory, number of processes and processor time of all together; nothing leaves it, and all ends with it"},
		{"restricted token", true, "the user's without privileges"},
		{"files and network", false, "a function can read and write what the user can, and reach the network"},
	}
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	TotalUserTime, TotalKernelTime                                            int64
	ThisPeriodTotalUserTime, ThisPeriodTotalKernelTime                        int64
	TotalPageFaultCount, TotalProcesses, ActiveProcesses, TerminatedProcesses uint32
}

// jobObjectBasicAccountingInformation is its number.
const jobObjectBasicAccountingInformation = 1

func (g *group) account() (a accounting, err error) {
	err = windows.QueryInformationJobObject(g.job, jobObjectBasicAccountingInformation, uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	return a, err
}

func (a *accounting) cpu() int64 { return (a.TotalUserTime + a.TotalKernelTime) * jobTime / 1000 }

func (g *group) usage() (groupUsage, error) {
	a, err := g.account()
	return groupUsage{count: int64(a.ActiveProcesses), cpu: a.cpu()}, err
}

// finish ends what is left and says what all processes have used.
func (g *group) finish(*os.ProcessState) (used groupUsed) {
	g.kill()
	if a, err := g.account(); err == nil {
		used.cpu = a.cpu()
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if err == nil {
		used.peak = int64(info.PeakJobMemoryUsed)
	}
	g.close()
	return used
}

func (g *group) close() {
	if g.token != 0 {
		_ = g.token.Close()
	}
	_ = windows.CloseHandle(g.job) // it ends what is in it
	g.token, g.job = 0, windows.InvalidHandle
}

// systemEnvironment is what Windows' own libraries need to start.
func systemEnvironment() []string {
	var env []string
	for _, name := range []string{"SystemRoot", "SystemDrive", "windir"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}
