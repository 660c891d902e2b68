//! Rules by example, and laws over random histories.

use std::collections::BTreeMap;

use air_contracts::task::{AgentRole, AttemptStatus, FailureClass, TaskStatus, TaskType};
use air_contracts::worker_result::WorkerStatus;
use proptest::prelude::*;

use crate::*;

fn graph(tasks: &[(TaskNo, &[TaskNo], &[&str])]) -> Graph {
    let nodes = tasks.iter().map(|(no, after, area)| {
        (*no, TaskNode::new(TaskType::Implement, after.to_vec(), WriteArea::new(area)))
    });
    Graph::new(Limits::default(), nodes.collect())
}

fn status(graph: &Graph, no: TaskNo) -> TaskStatus {
    graph.tasks()[&no].status
}

fn starts(actions: &[Action]) -> Vec<(TaskNo, u32, AgentRole, Transcript)> {
    actions
        .iter()
        .filter_map(|action| match action {
            Action::StartAttempt { task, n, role, transcript } => Some((*task, *n, *role, *transcript)),
            _ => None,
        })
        .collect()
}

fn done(graph: &mut Graph, task: TaskNo, n: u32) -> Vec<Action> {
    graph.step(Input::WorkerFinished { task, n, status: WorkerStatus::Done })
}

fn red(graph: &mut Graph, task: TaskNo, n: u32, what: &[&str]) -> Vec<Action> {
    done(graph, task, n);
    let instances = what.iter().map(|one| (*one).to_owned()).collect();
    graph.step(Input::VerificationFailed { task, n, instances })
}

#[test]
fn a_claim_alone_completes_nothing() {
    let mut graph = graph(&[(1, &[], &[])]);
    assert_eq!(starts(&graph.step(Input::Wake)), [(1, 1, AgentRole::Executor, Transcript::Fresh)]);
    assert!(done(&mut graph, 1, 1).contains(&Action::Verify { task: 1, n: 1 }));
    assert_eq!(status(&graph, 1), TaskStatus::Verifying);
    let actions = graph.step(Input::VerificationPassed { task: 1, n: 1, needs_review: false });
    assert_eq!(actions, [Action::Complete { task: 1 }]);
    assert_eq!(graph.tasks()[&1].attempts[0].status, AttemptStatus::Succeeded);
}

#[test]
fn the_same_failure_twice_brings_a_debugger_and_thrice_blocks() {
    let mut graph = graph(&[(1, &[], &[])]);
    graph.step(Input::Wake);
    assert_eq!(starts(&red(&mut graph, 1, 1, &["a"])), [(1, 2, AgentRole::Executor, Transcript::Fresh)]);
    // A lost worker neither counts nor breaks the row.
    let actions = graph.step(Input::WorkerLost { task: 1, n: 2 });
    assert_eq!(starts(&actions), [(1, 3, AgentRole::Executor, Transcript::Continue)]);
    assert_eq!(starts(&red(&mut graph, 1, 3, &["a"])), [(1, 4, AgentRole::Debugger, Transcript::Fresh)]);
    let actions = red(&mut graph, 1, 4, &["a"]);
    let reason = "blocked after 3 attempts: no progress on 1 failure".to_owned();
    assert_eq!(actions, [Action::Block { task: 1, kind: "verification", reason }]);
}

#[test]
fn a_new_failure_is_progress_within_the_limit() {
    let mut graph = graph(&[(1, &[], &[])]);
    graph.step(Input::Wake);
    red(&mut graph, 1, 1, &["a"]);
    assert_eq!(starts(&red(&mut graph, 1, 2, &["b"])), [(1, 3, AgentRole::Executor, Transcript::Fresh)]);
    red(&mut graph, 1, 3, &["c"]);
    assert_eq!(status(&graph, 1), TaskStatus::Blocked);
    let actions = graph.step(Input::Retry { task: 1 });
    assert_eq!(starts(&actions), [(1, 4, AgentRole::Executor, Transcript::Fresh)]);
    assert_eq!(starts(&red(&mut graph, 1, 4, &["c"])).len(), 1, "a retry counts anew");
}

#[test]
fn each_class_has_its_own_end() {
    let fail = |class, retryable| {
        let mut graph = graph(&[(1, &[], &[])]);
        graph.step(Input::Wake);
        let mut n = 1;
        while !graph.is_settled() {
            graph.step(Input::WorkerFailed { task: 1, n, class, instances: Vec::new(), retryable });
            n += 1;
        }
        (n - 1, status(&graph, 1))
    };
    assert_eq!(fail(FailureClass::Tool, true), (3, TaskStatus::Failed));
    assert_eq!(fail(FailureClass::Timeout, true), (3, TaskStatus::Failed));
    assert_eq!(fail(FailureClass::Provider, true), (3, TaskStatus::Blocked));
    assert_eq!(fail(FailureClass::Provider, false), (1, TaskStatus::Blocked));
    assert_eq!(fail(FailureClass::Budget, true), (1, TaskStatus::Blocked));
    assert_eq!(fail(FailureClass::Blocked, true), (1, TaskStatus::Blocked));
    let mut graph = graph(&[(1, &[], &[])]);
    graph.step(Input::Wake);
    for n in 1..=5 {
        assert_eq!(starts(&graph.step(Input::WorkerLost { task: 1, n })).len(), 1);
    }
    graph.step(Input::WorkerLost { task: 1, n: 6 });
    assert_eq!(status(&graph, 1), TaskStatus::Blocked);
}

#[test]
fn one_writer_at_a_time_and_dependants_after_their_dependency() {
    let mut graph = graph(&[(1, &[], &["src/a"]), (2, &[], &["src/b"]), (3, &[1], &[])]);
    assert_eq!(starts(&graph.step(Input::Wake)).len(), 1);
    done(&mut graph, 1, 1);
    let actions = graph.step(Input::VerificationPassed { task: 1, n: 1, needs_review: false });
    assert_eq!(starts(&actions)[0].0, 2);
    assert_eq!(status(&graph, 3), TaskStatus::Ready);
}

#[test]
fn a_blocked_dependency_holds_and_a_retry_lets_go() {
    let mut graph = graph(&[(1, &[], &[]), (2, &[1], &[]), (3, &[2], &[])]);
    graph.step(Input::Wake);
    graph.step(Input::WorkerFinished { task: 1, n: 1, status: WorkerStatus::Blocked });
    assert_eq!([1, 2, 3].map(|no| status(&graph, no)), [TaskStatus::Blocked; 3]);
    graph.step(Input::Retry { task: 1 });
    assert_eq!(
        [1, 2, 3].map(|no| status(&graph, no)),
        [TaskStatus::Running, TaskStatus::Pending, TaskStatus::Pending]
    );
    let actions = graph.step(Input::Cancel { task: 1, reason: "not needed".into() });
    assert!(actions.contains(&Action::CancelAttempt { task: 1, n: 2, reason: "not needed".into() }));
    assert_eq!([1, 2, 3].map(|no| status(&graph, no)), [TaskStatus::Cancelled; 3]);
}

#[test]
fn an_interrupted_task_goes_on_with_its_transcript() {
    let mut graph = graph(&[(1, &[], &[])]);
    graph.step(Input::Wake);
    let actions = graph.step(Input::Interrupt);
    assert!(actions.contains(&Action::CancelAttempt { task: 1, n: 1, reason: "interrupted".into() }));
    assert!(graph.is_settled());
    assert!(graph.step(Input::WorkerLost { task: 1, n: 1 }).is_empty(), "a late report changes nothing");
    assert_eq!(starts(&graph.step(Input::Wake)), [(1, 2, AgentRole::Executor, Transcript::Continue)]);
}

#[test]
fn tasks_that_wait_for_each_other_do_not_wait_for_ever() {
    let mut graph = graph(&[(1, &[2], &[]), (2, &[1], &[])]);
    graph.step(Input::Wake);
    assert_eq!([1, 2].map(|no| status(&graph, no)), [TaskStatus::Blocked; 2]);
}

#[derive(Debug, Clone)]
struct Plan {
    tasks: Vec<(Vec<usize>, u8, bool)>,
    moves: Vec<(u8, u8, u8)>,
    workers: usize,
    writers: usize,
}

fn plans() -> impl Strategy<Value = Plan> {
    let task = (prop::collection::vec(0usize..6, 0..3), 0u8..4, any::<bool>());
    let moves = prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>()), 0..80);
    (prop::collection::vec(task, 1..6), moves, 1usize..4, 1usize..3)
        .prop_map(|(tasks, moves, workers, writers)| Plan { tasks, moves, workers, writers })
}

/// A world that answers actions, in any order, and also says things that nobody asked for.
struct World {
    graph: Graph,
    /// What waits for an answer: (task, attempt, 0 attempt, 1 verification, 2 review).
    open: Vec<(TaskNo, u32, u8)>,
    verified: BTreeMap<TaskNo, u32>,
}

impl World {
    fn new(plan: &Plan) -> Self {
        let areas: [&[&str]; 4] = [&[], &["src/a/**"], &["src/b/**"], &["src/**"]];
        let tasks = plan.tasks.iter().enumerate().map(|(index, (after, area, reads))| {
            let kind = if *reads { TaskType::Review } else { TaskType::Implement };
            // Any dependency, also on itself and in circles: the core must cope.
            let after = after.iter().map(|one| *one as TaskNo + 1).collect();
            (index as TaskNo + 1, TaskNode::new(kind, after, WriteArea::new(areas[usize::from(*area)])))
        });
        let limits = Limits { max_workers: plan.workers, max_writers: plan.writers, ..Limits::default() };
        Self { graph: Graph::new(limits, tasks.collect()), open: Vec::new(), verified: BTreeMap::new() }
    }

    fn step(&mut self, input: Input) {
        let before: BTreeMap<TaskNo, TaskStatus> =
            self.graph.tasks().iter().map(|(no, task)| (*no, task.status)).collect();
        let retried = match &input {
            Input::Retry { task } => Some(*task),
            _ => None,
        };
        let cancels = matches!(input, Input::Cancel { .. });
        for action in self.graph.step(input) {
            match action {
                Action::StartAttempt { task, n, .. } => {
                    assert!(!self.open.iter().any(|(no, ..)| *no == task), "two attempts of k{task}");
                    self.open.push((task, n, 0));
                }
                Action::Verify { task, n } => self.open.push((task, n, 1)),
                Action::Review { task, n } => self.open.push((task, n, 2)),
                Action::CancelAttempt { task, n, .. } => self.open.retain(|one| (one.0, one.1) != (task, n)),
                Action::Complete { task } => {
                    let last = self.graph.tasks()[&task].attempts.last().unwrap();
                    assert_eq!(self.verified.get(&task), Some(&last.n), "k{task} completed unverified");
                    assert_eq!(last.status, AttemptStatus::Succeeded);
                }
                Action::SetStatus { .. } | Action::Fail { .. } | Action::Block { .. } => {}
            }
        }
        self.laws(&before, retried, cancels);
    }

    fn laws(&self, before: &BTreeMap<TaskNo, TaskStatus>, retried: Option<TaskNo>, cancels: bool) {
        let limits = self.graph.limits;
        for (no, task) in self.graph.tasks() {
            let was = before.get(no).copied().unwrap_or(TaskStatus::Pending);
            let over = matches!(was, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled);
            assert!(
                !over || task.status == was || retried == Some(*no),
                "k{no}: {was:?} became {:?}",
                task.status
            );
            let let_go = retried.is_some() || (cancels && task.status == TaskStatus::Cancelled);
            assert!(
                was != TaskStatus::Blocked || task.status == was || let_go,
                "k{no} left blocked by itself"
            );
            assert!(task.attempts.iter().rev().skip(1).all(|attempt| !attempt.is_open()));
            assert_eq!(task.is_active(), task.open_attempt().is_some(), "k{no} {:?}", task.status);
        }
        let active: Vec<&TaskNode> = self.graph.tasks().values().filter(|task| task.is_active()).collect();
        assert!(active.len() <= limits.max_workers);
        let writers: Vec<&&TaskNode> = active.iter().filter(|task| task.writes()).collect();
        assert!(writers.len() <= limits.max_writers);
        for (index, one) in writers.iter().enumerate() {
            assert!(writers[index + 1..].iter().all(|other| !one.area.overlaps(&other.area)), "writers meet");
        }
    }

    /// Answers one open action.
    fn answer(&mut self, which: usize, how: u8) {
        if self.open.is_empty() {
            return;
        }
        let (task, n, stage) = self.open.remove(which % self.open.len());
        let instances = vec![format!("t{}", how % 2)];
        let input = match (stage, how % 8) {
            (0, 0) => Input::WorkerLost { task, n },
            (0, 1) => Input::AttemptTimedOut { task, n },
            (0, 2) => {
                let classes =
                    [FailureClass::Provider, FailureClass::Tool, FailureClass::Budget, FailureClass::Blocked];
                let class = classes[usize::from(how / 8 % 4)];
                Input::WorkerFailed { task, n, class, instances, retryable: how < 128 }
            }
            (0, 3) => Input::WorkerFinished { task, n, status: WorkerStatus::Blocked },
            (0, _) => Input::WorkerFinished { task, n, status: WorkerStatus::Done },
            (1, 0..=2) => Input::VerificationFailed { task, n, instances },
            (1, 3) => Input::CannotJudge { task, n, kind: "denied", reason: String::new() },
            (1, _) => {
                self.verified.insert(task, n);
                Input::VerificationPassed { task, n, needs_review: how % 8 == 4 }
            }
            (_, 0..=2) => {
                Input::ReviewDone { task, n, verdict: ReviewVerdict::Changes { findings: instances } }
            }
            (_, 3) => {
                Input::ReviewDone { task, n, verdict: ReviewVerdict::CannotTell { reason: String::new() } }
            }
            _ => Input::ReviewDone { task, n, verdict: ReviewVerdict::Accept },
        };
        self.step(input);
    }

    fn play(&mut self, (what, which, how): (u8, u8, u8)) {
        let task = TaskNo::from(which) % 7;
        let n = u32::from(how % 4);
        match what % 16 {
            0 => self.step(Input::Cancel { task, reason: String::new() }),
            1 => self.step(Input::Retry { task }),
            2 => self.step(Input::Interrupt),
            3 => self.step(Input::Wake),
            // Late or invented reports: only those of another attempt, the real ones are answers.
            4 if !self.open.contains(&(task, n, 0)) => {
                self.step(Input::WorkerFinished { task, n, status: WorkerStatus::Done });
            }
            5 if !self.open.contains(&(task, n, 1)) => {
                self.step(Input::VerificationPassed { task, n, needs_review: false });
            }
            6 => self.step(Input::AttemptStarted { task, n }),
            _ => self.answer(usize::from(which), how),
        }
    }
}

proptest! {
    #[test]
    fn laws_hold_and_everything_settles_under_any_order(plan in plans()) {
        let mut world = World::new(&plan);
        world.step(Input::Wake);
        for one in &plan.moves {
            world.play(*one);
        }
        world.step(Input::Wake);
        let mut seed = plan.moves.len() as u8;
        for _ in 0..2_000 {
            if world.open.is_empty() {
                break;
            }
            seed = seed.wrapping_mul(37).wrapping_add(11);
            world.answer(usize::from(seed), seed);
        }
        prop_assert!(world.open.is_empty());
        prop_assert!(world.graph.is_settled(), "{:?}", world.graph);
        prop_assert!(world.graph.tasks().values().all(|task| task.status.is_settled()));
    }
}
