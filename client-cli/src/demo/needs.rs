//! What the demo needs of the machine.

use air_contracts::error::codes;
use air_contracts::{AirError, Result};

use crate::process::is_on_path;

/// Each need with the programs that fulfil it.
const NEEDS: [(&str, &[&str]); 5] = [
    ("git", &["git"]),
    ("cmake", &["cmake"]),
    ("ctest (comes with cmake)", &["ctest"]),
    ("a C++ compiler", &["g++", "c++", "clang++"]),
    ("make or ninja", &["make", "ninja"]),
];

/// `demo.missing_program` names all that is missing at once.
pub(super) fn check() -> Result<()> {
    let missing = missing(is_on_path);
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!("the demo builds a C++ project, and this machine lacks: {}", missing.join(", "));
    Err(AirError::new(codes::DEMO_MISSING_PROGRAM, message)
        .hint("Debian, Ubuntu: apt install git cmake g++ make"))
}

fn missing(has: impl Fn(&str) -> bool) -> Vec<&'static str> {
    NEEDS
        .iter()
        .filter(|(_, programs)| !programs.iter().any(|name| has(name)))
        .map(|(need, _)| *need)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_need_has_alternatives_and_is_named() {
        assert_eq!(missing(|_| true), Vec::<&str>::new());
        assert_eq!(
            missing(|name| name == "clang++" || name == "ninja" || name == "git"),
            ["cmake", "ctest (comes with cmake)"]
        );
        assert_eq!(missing(|_| false).len(), NEEDS.len());
    }
}
