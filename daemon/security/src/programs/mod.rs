//! What is known about programs: data, one table for each program.
//!
//! Whatever a table does not list is unknown. The format is described at [`Spec`].

mod embedded;
mod options;
mod spec;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use options::{Options, read_leading_options, read_options};
pub(crate) use spec::{Grammar, Kind, Spec};

/// All tables, by name and alias.
pub(crate) struct Catalogue {
    specs: Vec<Spec>,
    by_name: HashMap<String, usize>,
    /// Defects of the data, for the loader test.
    #[cfg(test)]
    pub defects: Vec<String>,
}

impl Catalogue {
    /// The table of a program, by the name that it is called by.
    pub(crate) fn get(&self, name: &str) -> Option<&Spec> {
        let name = versionless(name);
        self.by_name.get(name).and_then(|index| self.specs.get(*index))
    }
}

/// Compilers and interpreters are installed under names with a version: `g++-13`, `python3.12`.
fn versionless(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let Some(stem) = stem.strip_suffix('-').or_else(|| stem.starts_with("python").then_some(stem)) else {
        return name;
    };
    let versioned =
        ["gcc", "g++", "clang", "clang++", "clang-format", "clang-tidy", "python", "gcov", "llvm-cov", "lld"];
    if versioned.contains(&stem) { if stem == "python" { "python3" } else { stem } } else { name }
}

/// The catalogue, read once.
pub(crate) fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(load);
    &CATALOGUE
}

/// Reads the embedded files. A file that does not parse is left out: its programs are then unknown.
fn load() -> Catalogue {
    let mut specs: Vec<Spec> = Vec::new();
    let mut by_name = HashMap::new();
    let mut defects = Vec::new();
    for (file, text) in embedded::FILES {
        let parsed: spec::File = match toml::from_str(text) {
            Ok(parsed) => parsed,
            Err(error) => {
                defects.push(format!("{file}: {error}"));
                continue;
            }
        };
        for (name, spec) in parsed.program {
            let index = specs.len();
            for known in std::iter::once(name).chain(spec.aliases.iter().cloned()) {
                if by_name.insert(known.clone(), index).is_some() {
                    defects.push(format!("{file}: {known} is there twice"));
                }
            }
            specs.push(spec);
        }
    }
    #[cfg(not(test))]
    drop(defects);
    Catalogue {
        specs,
        by_name,
        #[cfg(test)]
        defects,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_valid() {
        let catalogue = catalogue();
        assert_eq!(catalogue.defects, Vec::<String>::new());
        let defects: Vec<String> = catalogue
            .specs
            .iter()
            .filter_map(|spec| Some(format!("{}: {}", spec.refuse, spec.defect()?)))
            .collect();
        assert_eq!(defects, Vec::<String>::new());
    }

    #[test]
    fn names_with_versions_are_found() {
        for name in ["g++-13", "clang-format-18", "python3.12", "python3", "ls"] {
            assert!(catalogue().get(name).is_some(), "{name}");
        }
        for name in ["ls-3", "rm2", "python-evil"] {
            assert!(catalogue().get(name).is_none(), "{name}");
        }
    }

    /// The examples of every table: `allow` runs without a question, `refuse` does not.
    #[test]
    fn every_table_has_examples_that_hold() {
        let limit = air_contracts::permission::Decision::Announce;
        let mut wrong = Vec::new();
        for spec in &catalogue().specs {
            let quiet = crate::analysis::decide_for_test(&spec.allow);
            let strict = crate::analysis::decide_for_test(&spec.refuse);
            if quiet.decision > limit {
                wrong.push(format!("{}: is asked: {:?}", spec.allow, quiet.reasons));
            }
            if spec.refuse.is_empty() || strict.decision <= limit {
                wrong.push(format!("{}: is not asked", spec.refuse));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
    }
}
