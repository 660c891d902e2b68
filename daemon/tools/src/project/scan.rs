//! `project.scan`: languages, build systems, checks and layout in a few lines.

use std::collections::BTreeMap;
use std::path::Path;

use air_contracts::Result;
use air_contracts::permission::EffectKind;
use air_contracts::port::{BoxFuture, CallPlan, ToolOutcome};
use air_contracts::project::ProjectProfile;
use air_contracts::tool::{CallContext, EffectClass, ToolCategory, ToolDefinition};
use serde_json::{Value, json};

use crate::gate::Permit;
use crate::kit::{Kit, blocking};
use crate::tool::{Builtin, Call, Step, define, effect, object, plan_of};

/// The tool.
pub(super) struct Scan(ToolDefinition);

impl Scan {
    /// With its texts.
    pub fn new() -> Self {
        let description = "Languages, build system, checks and top-level folders of the project.";
        let schema = object(json!({}), &[]);
        Self(define(
            "project.scan",
            ToolCategory::Project,
            EffectClass::Pure,
            "read inside the workspace",
            description,
            schema,
        ))
    }
}

impl Builtin for Scan {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn plan<'a>(&'a self, _: &'a Kit, _: &'a CallContext, input: Value) -> BoxFuture<'a, Result<CallPlan>> {
        Box::pin(async move { Ok(plan_of(input, "project", vec![effect(EffectKind::Read, ".")])) })
    }

    fn execute<'a>(
        &'a self,
        _: &'a Permit,
        call: &'a Call<'a>,
        _: CallPlan,
    ) -> BoxFuture<'a, Step<ToolOutcome>> {
        Box::pin(async move {
            let root = call.context.workspace_root.clone();
            let profile = blocking(move || profile(&root)).await?;
            let checks = call.kit.checks(&call.context.workspace_root).await?;
            let mut lines = Vec::new();
            let mut push = |what: &str, items: Vec<String>| {
                if !items.is_empty() {
                    lines.push(format!("{what}: {}", items.join(", ")));
                }
            };
            push("languages", profile.languages.clone());
            push("build", profile.build_systems.clone());
            push("checks", checks.iter().map(|check| format!("{} ({})", check.name, check.claim)).collect());
            push("layout", profile.layout.clone());
            let mut content = lines.join("\n");
            if content.is_empty() {
                content.push_str("[nothing known about this project]");
            }
            // What goes into every prompt stays small.
            content = crate::shell::both_ends(&content, 600).head;
            let data = json!({ "profile": profile, "checks": checks });
            Ok(ToolOutcome { summary: "scanned".to_owned(), content, data, ..ToolOutcome::default() })
        })
    }
}

/// Endings of files by language.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("c++", &["cpp", "cc", "cxx", "hpp", "hh", "hxx", "ipp"]),
    ("c", &["c", "h"]),
    ("rust", &["rs"]),
    ("python", &["py"]),
    ("typescript", &["ts", "tsx"]),
    ("javascript", &["js", "jsx", "mjs"]),
    ("go", &["go"]),
    ("java", &["java"]),
    ("shell", &["sh", "bash"]),
];

/// Files of the root by build system.
const BUILD_SYSTEMS: &[(&str, &str)] = &[
    ("CMakeLists.txt", "cmake"),
    ("meson.build", "meson"),
    ("Makefile", "make"),
    ("Cargo.toml", "cargo"),
    ("package.json", "npm"),
    ("pyproject.toml", "python"),
    ("go.mod", "go"),
    ("BUILD.bazel", "bazel"),
    ("conanfile.txt", "conan"),
    ("conanfile.py", "conan"),
    ("vcpkg.json", "vcpkg"),
];

fn profile(root: &Path) -> ProjectProfile {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for entry in crate::fs::walker(root, false).build().flatten().take(20_000) {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let ending =
            entry.path().extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
        if let Some((language, _)) = LANGUAGES.iter().find(|(_, endings)| endings.contains(&ending.as_str()))
        {
            *counts.entry(language).or_default() += 1;
        }
        let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
        if let (Some(top), true) = (below.components().next(), below.components().count() > 1) {
            *folders.entry(top.as_os_str().to_string_lossy().into_owned()).or_default() += 1;
        }
    }
    // Headers of a C++ project end in .h as well.
    if counts.contains_key("c++") {
        let c = counts.remove("c").unwrap_or(0);
        *counts.entry("c++").or_default() += c;
    }
    let mut languages: Vec<(usize, &str)> =
        counts.into_iter().map(|(language, count)| (count, language)).collect();
    languages.sort_by(|a, b| b.cmp(a));
    ProjectProfile {
        languages: languages.into_iter().take(4).map(|(_, language)| language.to_owned()).collect(),
        build_systems: BUILD_SYSTEMS
            .iter()
            .filter(|(file, _)| root.join(file).exists())
            .map(|(_, name)| (*name).to_owned())
            .collect(),
        layout: folders
            .into_iter()
            .take(12)
            .map(|(folder, count)| format!("{folder}/ {count} files"))
            .collect(),
    }
}
