//! A project that needs only a shell: `make check` fails until `total.sh` adds instead of subtracting.

/// The files.
pub const FILES: &[(&str, &str)] = &[
    ("total.sh", "#!/bin/sh\n# Prints the sum of its two arguments.\necho $(($1 - $2))\n"),
    (
        "tests/run.sh",
        "#!/bin/sh\nfailed=0\npassed=0\ncheck() {\n  if [ \"$(sh total.sh $1 $2)\" = \"$3\" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo \"FAIL: total $1 $2 should be $3\"; fi\n}\ncheck 1 2 3\ncheck 0 0 0\necho \"$passed passed, $failed failed\"\n[ $failed -eq 0 ]\n",
    ),
    ("Makefile", "check:\n\t@sh tests/run.sh\n.PHONY: check\n"),
    ("README.md", "total.sh adds two numbers.\n"),
];

/// What a user would ask.
pub const REQUEST: &str = "total.sh gives a wrong sum, please fix it";

/// Main hands over; what the executor does is given.
pub fn scenario(executor_turns: &str) -> String {
    format!(
        "agents:\n  main:\n    match: You talk with the user\n    turns:\n      - reply:\n          tools:\n            - name: task.create\n              input: {{title: Fix the sum, criteria: [{{text: total.sh adds}}]}}\n  executor:\n    match: You carry out one task\n    turns:\n{executor_turns}"
    )
}

/// One turn of the executor with these calls, as YAML.
pub fn calls(calls: &[(&str, &str)]) -> String {
    let mut turn = "      - reply:\n          tools:\n".to_owned();
    for (name, input) in calls {
        turn.push_str(&format!("            - {{name: {name}, input: {input}}}\n"));
    }
    turn
}

/// Looks, mends, checks, finishes.
pub fn honest() -> String {
    [
        calls(&[("fs.read", "{path: total.sh}"), ("shell.run", "{command: make check}")]),
        calls(&[("fs.edit", "{path: total.sh, old_string: \"$1 - $2\", new_string: \"$1 + $2\"}")]),
        calls(&[("task.finish", "{status: done, summary: \"total.sh subtracted; it adds now.\"}")]),
    ]
    .concat()
}
