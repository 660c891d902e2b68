//! The environment of commands.

use std::path::Path;

use air_security::is_secret_name;

/// What makes programs go on without a person: pagers, editors and questions end at once.
const FIXED: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "false"),
    ("EDITOR", "false"),
    ("VISUAL", "false"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
];

/// Names that tell a command about the runtime, or about the terminal that started it, or that change
/// which repository git works on.
const DROPPED: &[&str] = &[
    "AIR_HOME",
    "AIR_SOCKET",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "OLDPWD",
    "PWD",
    "SHLVL",
    "_",
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
];

/// The environment for commands: without secrets, with what never waits for a person.
pub(crate) fn command_env(from: &[(String, String)], temp: &Path) -> Vec<(String, String)> {
    let mut env: Vec<(String, String)> = from
        .iter()
        .filter(|(name, _)| !is_secret_name(name) && !DROPPED.contains(&name.as_str()))
        .filter(|(name, _)| !name.starts_with("BASH_FUNC_") && name != "TMPDIR")
        .filter(|(name, _)| !FIXED.iter().any(|(fixed, _)| fixed == name))
        .cloned()
        .collect();
    env.extend(FIXED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    env.push(("TMPDIR".to_owned(), temp.to_string_lossy().into_owned()));
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_prompts_are_taken_out() {
        let from = [
            ("PATH", "/bin"),
            ("OPENAI_API_KEY", "sk-1"),
            ("PAGER", "less"),
            ("AIR_SOCKET", "/x"),
            ("TMPDIR", "/t"),
        ];
        let from: Vec<_> =
            from.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let env = command_env(&from, Path::new("/private"));
        let get = |name: &str| env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!(get("PATH"), Some("/bin"));
        assert_eq!(get("PAGER"), Some("cat"));
        assert_eq!(get("TMPDIR"), Some("/private"));
        assert_eq!((get("OPENAI_API_KEY"), get("AIR_SOCKET")), (None, None));
        assert_eq!(env.iter().filter(|(name, _)| name == "PAGER").count(), 1);
    }
}
