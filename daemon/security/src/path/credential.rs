//! Names of files that hold secrets.

use std::path::Path;

use crate::facts::Boundaries;

/// What kind of secret a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secret {
    /// A key or log-in of the user or the system: never read.
    Personal,
    /// A secret file of the project, or of a process: asked about.
    Project,
}

/// Directories below home whose whole content is secret.
const HOME_DIRS: &[&str] = &[
    ".ssh",
    ".aws",
    ".gnupg",
    ".azure",
    ".kube",
    ".password-store",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/op",
    ".config/sops",
    ".config/google-chrome",
    ".config/chromium",
    ".local/share/keyrings",
    ".mozilla",
    ".thunderbird",
    ".docker",
];

/// Files below home that hold log-ins.
const HOME_FILES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    ".gradle/gradle.properties",
    ".m2/settings.xml",
];

/// Files of the system that hold secrets.
const SYSTEM_FILES: &[&str] =
    &["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers"];

/// Names that are secret wherever they are.
const NAMES: &[&str] = &[
    ".env",
    ".envrc",
    ".netrc",
    ".git-credentials",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".vault-token",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ed25519_sk",
    "credentials.json",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
    "secrets.toml",
    "service-account.json",
];

/// Endings that mean a private key or a store of them.
const ENDINGS: &[&str] = &[".key", ".pem", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"];

/// Endings of `.env.*` that mark a template.
const TEMPLATES: &[&str] = &["example", "sample", "template", "dist", "defaults", "schema"];

/// Whether a name is a template of a secret file, which holds none.
pub(crate) fn is_public_template(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower
        .strip_prefix(".env")
        .is_some_and(|rest| rest.rsplit('.').next().is_some_and(|end| TEMPLATES.contains(&end)))
}

/// The secret that `path` (absolute, resolved) is, if it is one.
pub(crate) fn secret_of(path: &Path, boundaries: &Boundaries) -> Option<Secret> {
    let text = path.to_string_lossy().to_ascii_lowercase();
    if text.starts_with("/proc/") && matches!(text.rsplit('/').next(), Some("environ" | "auxv")) {
        return Some(Secret::Project);
    }
    if SYSTEM_FILES.contains(&text.as_str()) || is_host_key(&text) {
        return Some(Secret::Personal);
    }
    let home = boundaries.home.to_string_lossy().to_ascii_lowercase();
    if let Some(below) = text.strip_prefix(home.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'))
        && !path.starts_with(&boundaries.workspace_root)
        && is_home_secret(below)
    {
        return Some(Secret::Personal);
    }
    let name = text.rsplit('/').next().unwrap_or_default();
    is_secret_file_name(name).then_some(if path.starts_with(&boundaries.workspace_root) {
        Secret::Project
    } else {
        name_outside(name)
    })
}

/// Outside the project a key file is somebody's key; other names may be anything.
fn name_outside(name: &str) -> Secret {
    if name.starts_with("id_") { Secret::Personal } else { Secret::Project }
}

fn is_host_key(text: &str) -> bool {
    text.starts_with("/etc/ssh/") && text.ends_with("_key")
}

fn is_home_secret(below: &str) -> bool {
    if below.starts_with(".ssh/") && (below.ends_with(".pub") || below.starts_with(".ssh/known_hosts")) {
        return false;
    }
    HOME_FILES.contains(&below)
        || HOME_DIRS
            .iter()
            .any(|dir| below == *dir || below.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/')))
}

/// Whether a file of this name (lower case) holds a secret wherever it is.
fn is_secret_file_name(name: &str) -> bool {
    if NAMES.contains(&name) {
        return true;
    }
    if name.starts_with(".env.") {
        return !is_public_template(name);
    }
    let public = name.contains("public")
        || name.contains("pub.")
        || name.starts_with("cert")
        || name.starts_with("ca.")
        || name.starts_with("ca-");
    ENDINGS
        .iter()
        .any(|ending| name.len() > ending.len() && name.ends_with(ending) && !(public && *ending == ".pem"))
}

/// Names that stand for their kind when a pattern is tried.
const PROBES: &[&str] = &[
    ".env",
    ".env.local",
    ".env.production",
    ".envrc",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    "id_rsa",
    "id_ed25519",
    "server.key",
    "server.pem",
    "credentials.json",
    "secrets.yaml",
];

/// Whether a pattern for one name is so narrow on secrets that it likely means them: `.e*`, `*.key`, `id_*`.
/// A pattern for everything is not taken as one.
pub(crate) fn glob_may_name_secret(pattern: &str) -> bool {
    let name = pattern.rsplit('/').next().unwrap_or(pattern);
    if name.chars().all(|c| matches!(c, '*' | '?')) {
        return false;
    }
    let dotted = name.starts_with('.') || name.starts_with("[.") || name.starts_with("\\.");
    let Ok(glob) = globset::GlobBuilder::new(name).case_insensitive(true).literal_separator(true).build()
    else {
        return true;
    };
    let matcher = glob.compile_matcher();
    PROBES.iter().any(|probe| (dotted || !probe.starts_with('.')) && matcher.is_match(probe))
}
