//! Configuration in layers: built in < `~/.air/config.yaml` < the project's own (where it is trusted) <
//! `AIR_*` of the environment. Flags come on top, from the client.

use std::collections::BTreeMap;
use std::path::Path;

use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use serde_json::{Map, Value, json};

use crate::file::read_to_string;
use crate::paths::AirPaths;
use crate::project::Project;

/// Where a top-level key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigSource {
    BuiltIn,
    File(String),
    Environment(String),
}

impl std::fmt::Display for ConfigSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::File(path) => f.write_str(path),
            Self::Environment(name) => write!(f, "${name}"),
        }
    }
}

/// The configuration in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// `providers`, `models`, `limits`, `tui`, …
    pub value: Value,
    pub sources: BTreeMap<String, ConfigSource>,
    /// What was ignored, and why.
    pub warnings: Vec<String>,
}

/// Keys that may stand in a file.
const KEYS: [&str; 6] = ["providers", "models", "limits", "tui", "experiments", "sandbox"];

impl Config {
    /// Reads all layers. `config.invalid` names the file that is broken: the caller goes on with the last good one.
    pub fn load(
        paths: &AirPaths,
        project: Option<&Project>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let mut config = Self::built_in();
        let user = paths.config_file();
        if let Some(layer) = read_layer(&user)? {
            config.merge(layer, &ConfigSource::File(user.display().to_string()));
        }
        if let Some(project) = project {
            config.merge_project(project)?;
        }
        config.merge_environment(env);
        Ok(config)
    }

    /// What holds without any file.
    pub fn built_in() -> Self {
        let value = json!({
            "providers": {},
            "models": {},
            "limits": { "max_workers": 4, "max_attempts": 3, "max_model_calls": 300, "max_cost_usd_per_session": 20.0 },
        });
        let sources = ["providers", "models", "limits"].map(|key| (key.to_owned(), ConfigSource::BuiltIn));
        Self { value, sources: sources.into(), warnings: Vec::new() }
    }

    /// One section; `null` where it is absent.
    pub fn section(&self, key: &str) -> &Value {
        &self.value[key]
    }

    /// A number of `limits`.
    pub fn limit(&self, key: &str) -> Option<f64> {
        self.value["limits"][key].as_f64()
    }

    fn merge_project(&mut self, project: &Project) -> Result<()> {
        let path = project.root.join(".air/shared/config.yaml");
        let Some(mut layer) = read_layer(&path)? else { return Ok(()) };
        let shown = path.display().to_string();
        if !project.trusted {
            self.warnings.push(format!("{shown} is ignored: the project is not trusted (air trust)"));
            return Ok(());
        }
        // A repository must not send code or keys elsewhere.
        if layer.remove("providers").is_some() {
            self.warnings
                .push(format!("{shown}: `providers` is ignored; it belongs into ~/.air/config.yaml"));
        }
        self.merge(layer, &ConfigSource::File(shown));
        Ok(())
    }

    fn merge_environment(&mut self, env: &dyn Fn(&str) -> Option<String>) {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        if let Some(model) = set("AIR_MODEL") {
            let layer = Map::from_iter([("models".to_owned(), json!({ "default": model }))]);
            self.merge(layer, &ConfigSource::Environment("AIR_MODEL".into()));
        }
        for (name, key) in [("AIR_MAX_WORKERS", "max_workers"), ("AIR_MAX_COST", "max_cost_usd_per_session")]
        {
            let Some(text) = set(name) else { continue };
            match text.parse::<f64>() {
                Ok(number) if number >= 0.0 && number.is_finite() => {
                    let layer = Map::from_iter([("limits".to_owned(), json!({ key: number }))]);
                    self.merge(layer, &ConfigSource::Environment(name.into()));
                }
                _ => self.warnings.push(format!("${name} is ignored: {text} is not a number of 0 or more")),
            }
        }
    }

    fn merge(&mut self, layer: Map<String, Value>, source: &ConfigSource) {
        for (key, value) in layer {
            if !KEYS.contains(&key.as_str()) {
                self.warnings.push(format!("{source}: unknown key `{key}`; known are {}", KEYS.join(", ")));
                continue;
            }
            self.sources.insert(key.clone(), source.clone());
            merge_value(&mut self.value[&key], value);
        }
    }
}

/// Objects are merged key by key; anything else replaces what was there.
fn merge_value(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge_value(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

fn read_layer(path: &Path) -> Result<Option<Map<String, Value>>> {
    let Some(text) = read_to_string(path)? else { return Ok(None) };
    if text.trim().is_empty() {
        return Ok(None);
    }
    let invalid = |detail: String| {
        AirError::new(codes::CONFIG_INVALID, format!("{}: {detail}", path.display()))
            .hint(format!("mend or move {}; air doctor shows what is read", path.display()))
    };
    match serde_saphyr::from_str::<Value>(&text).map_err(|error| invalid(error.to_string()))? {
        Value::Object(layer) => Ok(Some(layer)),
        Value::Null => Ok(None),
        _ => Err(invalid("a map of keys is expected".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(user: &str, env: &[(&str, &str)]) -> Result<Config> {
        let dir = tempfile::tempdir().unwrap();
        let paths = AirPaths::at(dir.path());
        std::fs::write(paths.config_file(), user).unwrap();
        Config::load(&paths, None, &|name| {
            env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn later_layers_win_key_by_key_and_unknown_keys_are_named() {
        let config = load(
            "models: { default: a/b, roles: { reviewer: c/d } }\nlimits: { max_workers: 2 }\ncolour: red\n",
            &[("AIR_MODEL", "e/f"), ("AIR_MAX_COST", "lots")],
        )
        .unwrap();
        assert_eq!(config.section("models"), &json!({ "default": "e/f", "roles": { "reviewer": "c/d" } }));
        assert_eq!(config.limit("max_workers"), Some(2.0));
        assert_eq!(config.limit("max_attempts"), Some(3.0));
        assert_eq!(config.sources["models"].to_string(), "$AIR_MODEL");
        assert!(config.warnings[0].contains("colour"), "{:?}", config.warnings);
        assert!(config.warnings[1].contains("lots"), "{:?}", config.warnings);
    }

    #[test]
    fn broken_yaml_is_an_error_that_names_the_file() {
        for broken in ["models: [", "just text", "- 1\n- 2\n"] {
            let error = load(broken, &[]).unwrap_err();
            assert_eq!(error.code, codes::CONFIG_INVALID, "{broken}");
            assert!(error.message.contains("config.yaml"), "{}", error.message);
        }
    }
}
