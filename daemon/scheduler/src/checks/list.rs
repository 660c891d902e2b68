//! The checks of a task: those of the project, of its criteria, and what it adds.

use air_contracts::project::{CheckKind, ProjectCheck};
use air_contracts::task::{TaskSpec, TaskType};

/// Where a check comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// `project.json`, or a scan of the tree.
    Project,
    /// A criterion of the task, from 1.
    Criterion(u32),
    /// `verification.extra_checks`.
    Extra,
}

/// One command that is run once, whatever number of claims rest on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckSpec {
    pub check: ProjectCheck,
    pub origin: Origin,
}

/// One sentence of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub text: String,
    /// As its author wrote it: a name or a command.
    pub check: Option<String>,
    /// Number of the criterion, from 1; `None` for a check of the project.
    pub criterion: Option<u32>,
    /// Place in the list of checks.
    pub spec: Option<usize>,
}

/// Claims in the order of the report, checks in the order in which they run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckList {
    pub specs: Vec<CheckSpec>,
    pub claims: Vec<Claim>,
}

impl CheckList {
    /// Whether anything can run.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }
}

/// Collects them. A task that writes nothing is judged by its own criteria alone.
pub(crate) fn checks_of(task: &TaskSpec, project: Vec<ProjectCheck>) -> CheckList {
    let reads_only =
        matches!(task.kind, TaskType::Review | TaskType::Design | TaskType::Compact | TaskType::Mine);
    let mut project = if reads_only { Vec::new() } else { project };
    project.sort_by_key(|check| order(check.kind));
    let mut list = CheckList::default();
    list.specs.extend(project.into_iter().map(|check| CheckSpec { check, origin: Origin::Project }));
    let of_project = list.specs.len();
    let mut named = vec![false; of_project];
    for (index, criterion) in task.acceptance_criteria.iter().enumerate() {
        let n = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let written = criterion.check.as_deref().map(str::trim).filter(|check| !check.is_empty());
        let spec = written.map(|check| {
            let known = list
                .specs
                .iter()
                .position(|spec| spec.check.name == check || spec.check.command.trim() == check);
            known.unwrap_or_else(|| {
                list.add(format!("criterion {n}"), &criterion.text, check, Origin::Criterion(n))
            })
        });
        if let Some(named) = spec.and_then(|spec| named.get_mut(spec)) {
            *named = true;
        }
        let (text, check) = (criterion.text.clone(), written.map(str::to_owned));
        list.claims.push(Claim { text, check, criterion: Some(n), spec });
    }
    for (index, command) in task.verification.extra_checks.iter().map(|command| command.trim()).enumerate() {
        if !command.is_empty() && !list.specs.iter().any(|spec| spec.check.command.trim() == command) {
            let spec = list.add(format!("extra {}", index + 1), command, command, Origin::Extra);
            list.claim(spec);
        }
    }
    for spec in (0..of_project).filter(|spec| !named[*spec]) {
        list.claim(spec);
    }
    list
}

impl CheckList {
    fn add(&mut self, name: String, claim: &str, command: &str, origin: Origin) -> usize {
        let check = ProjectCheck {
            name,
            claim: claim.to_owned(),
            command: command.to_owned(),
            kind: CheckKind::Other,
            timeout_ms: None,
            defined_by: Vec::new(),
        };
        self.specs.push(CheckSpec { check, origin });
        self.specs.len() - 1
    }

    fn claim(&mut self, spec: usize) {
        let check = &self.specs[spec].check;
        let claim = Claim {
            text: check.claim.clone(),
            check: Some(check.name.clone()),
            criterion: None,
            spec: Some(spec),
        };
        self.claims.push(claim);
    }
}

/// What a later check needs comes first.
const fn order(kind: CheckKind) -> u8 {
    match kind {
        CheckKind::Configure => 0,
        CheckKind::Build => 1,
        CheckKind::Lint => 2,
        CheckKind::Test => 3,
        CheckKind::Other => 4,
    }
}
