//! CMake: always built out of the tree, with a preset where the project has one that can be used.

use air_contracts::project::ProjectCheck;
use serde_json::Value;

use super::detect::{Tree, below, build, test};

const FILES: &[&str] =
    &["CMakeLists.txt", "**/CMakeLists.txt", "CMakePresets.json", "**/*.cmake", "cmake/**"];

/// Build, and tests where the project declares any.
pub(super) fn checks(tree: &Tree<'_>) -> Vec<ProjectCheck> {
    let Some(text) = tree.text("CMakeLists.txt").filter(|_| tree.runs("cmake")) else { return Vec::new() };
    let configure = match preset(tree) {
        // Without -B, a preset may build within the tree.
        Some(name) => format!(r#"cmake --preset {name} -B "$AIR_BUILD_DIR""#),
        None => {
            let generator = if tree.runs("ninja") { " -G Ninja" } else { "" };
            format!(r#"cmake -S . -B "$AIR_BUILD_DIR"{generator} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"#)
        }
    };
    let make = r#"cmake --build "$AIR_BUILD_DIR" -j2"#;
    let mut checks = vec![build(format!("{configure} && {make}"), FILES)];
    let declares = |text: &str| {
        let code = text.lines().map(|line| line.split('#').next().unwrap_or_default().to_lowercase());
        let code: String = code.collect::<Vec<_>>().join("\n").split_whitespace().collect();
        ["enable_testing(", "add_test(", "include(ctest)", "discover_tests("]
            .iter()
            .any(|call| code.contains(call))
    };
    if declares(&text) || below(tree.root, "CMakeLists.txt", declares) {
        let files = [FILES, &["tests/**", "test/**"]].concat();
        // By itself it must not run the tests of an older build.
        let first = format!(r#"{{ [ -f "$AIR_BUILD_DIR/CMakeCache.txt" ] || {configure}; }} && {make}"#);
        let run = r#"ctest --test-dir "$AIR_BUILD_DIR" --output-on-failure --no-tests=error -j2"#;
        checks.push(test(format!("{first} && {run}"), &files));
    }
    checks
}

/// The first configure preset that is not hidden, needs nothing that is not here, and is built or tested by
/// another preset.
fn preset(tree: &Tree<'_>) -> Option<String> {
    let file: Value = serde_json::from_str(&tree.text("CMakePresets.json")?).ok()?;
    let list =
        |key: &str| file.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default().to_vec();
    let configure = list("configurePresets");
    let used: Vec<String> = [list("buildPresets"), list("testPresets")]
        .concat()
        .iter()
        .filter_map(|preset| preset.get("configurePreset")?.as_str().map(str::to_owned))
        .collect();
    let usable = configure.iter().find(|preset| {
        let name = preset.get("name").and_then(Value::as_str).unwrap_or_default();
        let hidden = preset.get("hidden").and_then(Value::as_bool).unwrap_or(false);
        !hidden && used.iter().any(|wanted| wanted == name) && plain(name) && fits(preset, &configure, tree)
    })?;
    usable.get("name")?.as_str().map(str::to_owned)
}

fn plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c))
}

/// Whether the generator of a preset is here, and nothing of it or what it inherits depends on the machine.
fn fits(preset: &Value, all: &[Value], tree: &Tree<'_>) -> bool {
    let chain = chain(preset, all);
    let own = |key: &str| chain.iter().find_map(|preset| preset.get(key));
    let generator = own("generator").and_then(Value::as_str);
    let program = match generator {
        None => None,
        Some("Ninja" | "Ninja Multi-Config") => Some("ninja"),
        Some("Unix Makefiles") => Some("make"),
        Some(_) => return false,
    };
    let needs = ["$env{", "$penv{", "$vendor{"];
    let depends = chain.iter().any(|preset| {
        let text = preset.to_string();
        preset.get("condition").is_some() || needs.iter().any(|word| text.contains(word))
    });
    !depends && program.is_none_or(|program| tree.runs(program))
}

/// A preset and what it inherits, nearest first.
fn chain<'a>(preset: &'a Value, all: &'a [Value]) -> Vec<&'a Value> {
    let mut chain = vec![preset];
    let mut index = 0;
    while let Some(current) = chain.get(index).copied() {
        let parents: Vec<&str> = match current.get("inherits") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        for name in parents {
            let parent = all.iter().find(|preset| preset.get("name").and_then(Value::as_str) == Some(name));
            // Cycles are an error of the file; here they only must end.
            if let Some(parent) = parent.filter(|_| chain.len() < 50) {
                chain.push(parent);
            }
        }
        index += 1;
    }
    chain
}
