//! What a program that code starts would do: shut the machine down, format a disk, delete
//! everything, become another user, scan a network, install something.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What starts programs, by prefix.
pub const STARTS: &[&str] = &[
    "os.system", "os.popen", "os.exec", "os.spawn", "os.posix_spawn", "posix.system", "posix.exec", "subprocess.", "pty.spawn", "commands.get", "asyncio.create_subprocess",
];

type Found = (&'static str, u32, String);

/// What runs the command that follows it.
const WRAPPERS: &[&str] = &[
    "env", "nohup", "nice", "ionice", "time", "timeout", "exec", "xargs", "setsid", "stdbuf", "command", "busybox", "sh", "bash", "dash", "zsh", "ash", "cmd", "if", "then", "else", "do", "!",
];
const PRIVILEGE: &[&str] = &["sudo", "su", "doas", "pkexec", "runuser", "sudoedit"];
const SHUTDOWN: &[&str] = &["shutdown", "reboot", "halt", "poweroff", "telinit"];
const FORMAT: &[&str] = &["mke2fs", "mkswap", "wipefs", "fdisk", "sfdisk", "cfdisk", "sgdisk", "parted", "diskpart", "blkdiscard", "cryptsetup"];
const SCANNER: &[&str] = &[
    "nmap", "masscan", "zmap", "rustscan", "tcpdump", "tshark", "nc", "ncat", "netcat", "hping3", "arp-scan", "nikto", "sqlmap", "hydra", "ettercap", "aircrack-ng", "netdiscover", "gobuster",
];
const PRIVILEGED: &[&str] = &[
    "mount", "umount", "insmod", "modprobe", "rmmod", "iptables", "ip6tables", "nft", "chroot", "nsenter", "unshare", "setcap", "docker", "podman", "ctr", "systemctl", "service", "useradd",
    "usermod", "userdel", "passwd", "chpasswd", "visudo", "crontab", "sysctl", "kexec", "losetup", "iw", "ifconfig",
];
const INSTALLERS: &[&str] = &[
    "pip", "pip3", "pipx", "uv", "conda", "mamba", "npm", "apt", "apt-get", "aptitude", "dpkg", "dnf", "yum", "rpm", "apk", "pacman", "brew", "gem", "snap", "cargo", "poetry",
];
const INSTALLS: &[&str] = &["install", "add", "-i", "-S", "-Sy", "--install", "sync"];

/// Judges the commands that these literals are: the words of a list, or lines of a shell.
pub fn judge(texts: &[String]) -> Vec<Found> {
    let words = words(texts);
    let mut found = Vec::new();
    for command in words.split(|w| w == ";") {
        one(command, &mut found);
    }
    found
}

/// Judges what is deleted with all that is below it.
pub fn removed(texts: &[String]) -> Vec<Found> {
    texts.iter().filter(|t| root(t)).map(|t| ("wipe", 85, t.clone())).collect()
}

fn words(texts: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    for text in texts {
        let mut word = String::new();
        for c in text.chars() {
            match c {
                ';' | '|' | '&' | '\n' | '\r' | '`' | '(' | ')' => {
                    words.push(core::mem::take(&mut word));
                    words.push(";".to_string());
                }
                '"' | '\'' => {}
                c if c.is_whitespace() => words.push(core::mem::take(&mut word)),
                c => word.push(c),
            }
        }
        words.push(word);
    }
    words.retain(|w| !w.is_empty());
    words
}

fn one(words: &[String], found: &mut Vec<Found>) {
    for (at, word) in words.iter().enumerate() {
        let program = word.rsplit('/').next().unwrap_or("");
        let what = || words[at..].join(" ");
        if PRIVILEGE.contains(&program) {
            found.push(("privilege", 70, what()));
            continue; // and what it runs
        }
        let passed = WRAPPERS.contains(&program) || word.starts_with('-') || word.contains('=') || word.bytes().all(|b| b.is_ascii_digit());
        if !passed {
            if let Some((label, weight)) = meaning(program, &words[at + 1..]) {
                found.push((label, weight, what()));
            }
            return;
        }
    }
}

/// What a program does with these words behind it.
fn meaning(program: &str, rest: &[String]) -> Option<(&'static str, u32)> {
    let has = |list: &[&str]| rest.iter().any(|w| list.contains(&w.as_str()));
    let recursive = || rest.iter().any(|w| w == "--recursive" || w.starts_with('-') && !w.starts_with("--") && (w.contains('r') || w.contains('R')));
    if SHUTDOWN.contains(&program) || program == "init" && has(&["0", "6"]) || program == "systemctl" && has(&["poweroff", "reboot", "halt", "suspend", "hibernate", "kexec"]) {
        return Some(("shutdown", 80));
    }
    let device = |w: &String| w.starts_with("of=/dev/") && w != "of=/dev/null" || program == "shred" && w.starts_with("/dev/") || program == "format" && w.ends_with(':');
    if FORMAT.contains(&program) || program == "mkfs" || program.starts_with("mkfs.") || ["dd", "shred", "format"].contains(&program) && rest.iter().any(device) {
        return Some(("format", 85));
    }
    let everything = rest.iter().any(|w| root(w));
    if program == "rm" && everything && recursive() || program == "find" && everything && has(&["-delete", "rm"]) {
        return Some(("wipe", 85));
    }
    if SCANNER.contains(&program) {
        return Some(("scanner", 60));
    }
    let python = program.starts_with("python") && has(&["pip", "ensurepip"]);
    if (INSTALLERS.contains(&program) || python) && has(INSTALLS) || program == "easy_install" {
        return Some(("install", 50));
    }
    if PRIVILEGED.contains(&program) {
        return Some(("privileged", 55));
    }
    None
}

/// Whether a path is the root of all files, a folder right below it, or a home. What is meant for passing files is not.
fn root(path: &str) -> bool {
    let bare = path.trim_end_matches(|c| c == '/' || c == '*' || c == '.');
    if ["~", "$HOME", "${HOME}"].contains(&bare) {
        return true;
    }
    path.starts_with('/') && bare != "/tmp" && !bare.trim_start_matches('/').contains('/')
}
