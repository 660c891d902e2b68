//! Paths: class and decision.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use air_security::{PathOp, classify_path};
use serde_json::Value;

use crate::fixture::{Facts, ROOT, boundaries, cases, decision_holds, fill, ratchet};

/// How many cases pass; it may only rise.
const AT_LEAST: usize = 49;

fn path_of(case: &Value) -> PathBuf {
    if let Some(text) = case["path"].as_str() {
        return PathBuf::from(fill(text));
    }
    if let Some(parts) = case["path_repeat"].as_array() {
        let times = usize::try_from(parts[1].as_u64().unwrap()).unwrap();
        return PathBuf::from(parts[0].as_str().unwrap().repeat(times) + parts[2].as_str().unwrap());
    }
    PathBuf::from(OsString::from_vec(decode(case["path_b64"].as_str().unwrap())))
}

/// Base64 with the standard alphabet.
fn decode(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = 0u32;
    let mut count = 0;
    let mut out = Vec::new();
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let value = ALPHABET.iter().position(|known| *known == byte).unwrap();
        bits = bits << 6 | u32::try_from(value).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    out
}

fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            out.pop();
        } else {
            out.push(part.as_os_str());
        }
    }
    out
}

#[test]
fn paths_are_what_they_lead_to() {
    let all = cases("paths.jsonl");
    let mut failures = Vec::new();
    for case in &all {
        let mut facts = Facts::project();
        facts.apply(&case["fixture"]);
        let op = match case["op"].as_str().unwrap() {
            "read" => PathOp::Read,
            "write" => PathOp::Write,
            _ => PathOp::Delete,
        };
        let verdict = classify_path(&path_of(case), op, &boundaries(), &facts);
        let expect = &case["expect"];
        let class = snake(&format!("{:?}", verdict.class));
        let decision = format!("{:?}", verdict.decision).to_lowercase();
        let resolved = expect["resolved"]
            .as_str()
            .is_none_or(|wanted| plain(Path::new(&fill(wanted))) == verdict.resolved);
        if expect["class"] != class.as_str() || !decision_holds(expect, &decision) || !resolved {
            failures.push(format!(
                "{}: {class}/{decision} at {}, expected {}/{} ({})",
                case["id"],
                verdict.resolved.display(),
                expect["class"],
                expect["decision"],
                verdict.reason
            ));
        }
    }
    ratchet("paths", all.len(), &failures, AT_LEAST);
    assert!(Path::new(ROOT).is_absolute());
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
