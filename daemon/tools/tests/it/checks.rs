//! The project's own checks, with a real CMake project.

use air_contracts::port::ToolExecutor;
use air_contracts::project::ProjectCheck;
use air_contracts::task::AgentRole;
use air_contracts::tool::{ToolResultEnvelope, ToolStatus};
use serde_json::{Value, json};

use crate::world::World;

async fn run(world: &World, id: &str, check: &ProjectCheck, purpose: &str) -> ToolResultEnvelope {
    let mut input = serde_json::to_value(check).unwrap();
    input["purpose"] = purpose.into();
    world.service.call(world.call_with(AgentRole::Runtime, id, "check.exec", input)).await
}

#[tokio::test]
async fn a_cmake_project_is_built_out_of_tree_and_its_tests_are_counted() {
    let world = World::new().await;
    let cmake = "cmake_minimum_required(VERSION 3.20)\nproject(x LANGUAGES CXX)\nenable_testing()\nadd_executable(t t.cpp)\n\
                 add_test(NAME good COMMAND t 0)\nadd_test(NAME bad COMMAND t 1)\n";
    world.file("CMakeLists.txt", cmake);
    world.file("t.cpp", "#include <cstdlib>\nint main(int, char** a) { return std::atoi(a[1]); }\n");
    let checks = world.service.project_checks(&world.workspace_ref()).await.unwrap();
    let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names, ["build", "test"]);
    let build = run(&world, "b", &checks[0], "baseline").await;
    assert_eq!((build.status, build.exit_code), (ToolStatus::Ok, Some(0)), "{}", build.content);
    let test = run(&world, "t", &checks[1], "baseline").await;
    assert_eq!(test.exit_code, Some(8), "{}", test.content);
    assert_eq!(test.data["tests"], json!({ "passed": 1, "failed": 1, "skipped": 0 }));
    assert_eq!((&test.data["instances"], &test.data["purpose"]), (&json!(["bad"]), &json!("baseline")));
    let names: Vec<String> = std::fs::read_dir(&world.root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let control = run(&world, "c", &checks[1], "control").await;
    assert_ne!(control.exit_code, Some(0), "{}", control.content);
    assert_eq!(control.data["tests"], Value::Null);
    assert_eq!(world.count("approval.requested").await, 0);
}

#[tokio::test]
async fn checks_of_the_project_file_come_before_what_is_found() {
    let mut world = World::new().await;
    world.file("Makefile", "check:\n\t@echo '2 passed, 1 failed'; exit 1\n");
    let found = world.service.project_checks(&world.workspace_ref()).await.unwrap();
    let make = run(&world, "m", &found[0], "verify").await;
    assert_eq!(make.data["tests"], json!({ "passed": 2, "failed": 1, "skipped": 0 }), "{}", make.content);
    let own = ProjectCheck { command: "test -f Makefile && ./none".to_owned(), ..found[0].clone() };
    let listed = own.clone();
    world.deps.verify = std::sync::Arc::new(move || Some(vec![listed.clone()]));
    world.service = air_tools::ToolService::new(world.deps.clone());
    assert_eq!(
        world.service.project_checks(&world.workspace_ref()).await.unwrap(),
        std::slice::from_ref(&own)
    );
    let result = run(&world, "o", &own, "verify").await;
    assert_eq!(result.exit_code, Some(127), "{}", result.content);
}

#[tokio::test]
async fn the_doctor_looks_at_what_this_project_needs() {
    let world = World::new().await;
    world.file("CMakeLists.txt", "");
    let checks = air_tools::doctor(&world.deps).await;
    let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    for wanted in ["git", "bash", "landlock", "user namespaces", "air-worker", "cmake", "c++ compiler"] {
        assert!(names.contains(&wanted), "{names:?}");
    }
    assert!(!names.contains(&"cargo"));
}
