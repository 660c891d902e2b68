//! Names of environment variables that look like they hold a credential.

/// Endings and parts that mark a variable as a credential. Compared in upper case, by `_`-separated words.
const WORDS: &[&str] = &[
    "KEY",
    "APIKEY",
    "TOKEN",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASS",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "PAT",
    "AUTH",
    "COOKIE",
    "PRIVATE",
    "DSN",
];

/// Whole names that the words above do not find.
const NAMES: &[&str] = &["PGPASSWORD", "MYSQL_PWD", "DATABASE_URL", "REDIS_URL", "MONGODB_URI", "AMQP_URL"];

/// Names that look like one and hold none.
const HARMLESS: &[&str] =
    &["SSH_AUTH_SOCK", "XAUTHORITY", "KEYBOARD_KEY", "KEY_TIMEOUT", "AUTH_TYPE", "COLORKEY"];

/// Whether a variable of this name is likely to hold a secret, so that its value is scrubbed from what is
/// given to commands and models. Names are compared without case.
pub fn is_secret_name(env_name: &str) -> bool {
    let upper = env_name.to_ascii_uppercase();
    if HARMLESS.contains(&upper.as_str()) {
        return false;
    }
    if NAMES.contains(&upper.as_str()) {
        return true;
    }
    let mut words = upper.split(['_', '-', '.']).filter(|word| !word.is_empty());
    words.any(|word| WORDS.contains(&word) || joined(word))
}

/// Words written without a separator: `APITOKEN`, `DBPASSWORD`.
fn joined(word: &str) -> bool {
    ["APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "ACCESSKEY", "CREDENTIALS"]
        .iter()
        .any(|ending| word.len() > ending.len() && word.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_told_from_settings() {
        for name in [
            "ANTHROPIC_API_KEY",
            "GITHUB_TOKEN",
            "aws_secret_access_key",
            "DB_PASSWORD",
            "PGPASSWORD",
            "NPM_TOKEN",
            "GH_PAT",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "SSH_AUTH_SOCK",
            "KEYBOARD",
            "CARGO_HOME",
            "TOKENIZERS_PARALLELISM",
            "PATTERN",
            "AUTHOR",
            "COMPASS",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
