//! From configuration to providers. Projects with the same configuration share one manager, and with it
//! connections and what is known about failing models.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use air_contracts::error::codes;
use air_contracts::{AirError, Result};
use air_host::Config;
use air_llm::{ModelsConfig, ProviderConfig, ProviderKind, ProviderManager};
use serde::de::DeserializeOwned;

use crate::credentials::Credentials;
use crate::environment::Environment;

/// Managers that are kept; more configurations at a time are rare.
const KEPT: usize = 8;

/// The managers of this daemon.
pub struct Models {
    environment: Arc<Environment>,
    managers: Mutex<Vec<(u64, ProviderManager)>>,
}

impl Models {
    pub fn new(environment: Arc<Environment>) -> Self {
        Self { environment, managers: Mutex::default() }
    }

    /// The manager of a configuration. `config.invalid` names the section that cannot be read.
    pub fn manager(
        &self,
        config: &Config,
        credentials: &Credentials,
        version: u64,
    ) -> Result<ProviderManager> {
        let key = fingerprint(config, credentials, version);
        {
            let managers = self.managers.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, manager)) = managers.iter().find(|(known, _)| *known == key) {
                return Ok(manager.clone());
            }
        }
        let providers = providers(config, credentials)?;
        let models: ModelsConfig = section(config, "models")?;
        let manager = ProviderManager::new(providers, models, &|name| self.environment.get(name))?;
        let mut managers = self.managers.lock().unwrap_or_else(PoisonError::into_inner);
        managers.insert(0, (key, manager.clone()));
        managers.truncate(KEPT);
        Ok(manager)
    }
}

/// Which configuration it is. Keys are not part of it: `version` changes when their file does.
fn fingerprint(config: &Config, credentials: &Credentials, version: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    config.section("providers").to_string().hash(&mut hasher);
    config.section("models").to_string().hash(&mut hasher);
    credentials.keys.keys().for_each(|name| name.hash(&mut hasher));
    version.hash(&mut hasher);
    hasher.finish()
}

fn providers(config: &Config, credentials: &Credentials) -> Result<BTreeMap<String, ProviderConfig>> {
    let mut providers: BTreeMap<String, ProviderConfig> = section(config, "providers")?;
    for (name, key) in &credentials.keys {
        if let Some(provider) = providers.get_mut(name) {
            provider.api_key.get_or_insert_with(|| key.clone());
        } else if name == ProviderKind::Anthropic.as_str() {
            // A key for the vendor's own address needs no further word.
            let mut provider = ProviderConfig::new(ProviderKind::Anthropic);
            provider.api_key = Some(key.clone());
            providers.insert(name.clone(), provider);
        }
    }
    Ok(providers)
}

fn section<T: DeserializeOwned + Default>(config: &Config, name: &str) -> Result<T> {
    let value = config.section(name);
    if value.is_null() {
        return Ok(T::default());
    }
    T::deserialize(value).map_err(|error| {
        let place = config.sources.get(name).map_or_else(String::new, |source| format!("{source}: "));
        AirError::new(codes::CONFIG_INVALID, format!("{place}{name}: {error}"))
            .hint("air config shows what is read")
    })
}
