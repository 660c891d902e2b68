//! What prompts say of a project (layer L4): language, build, checks, layout.

use air_contracts::project::ProjectFile;

/// Bytes of the text, at most.
const LIMIT: usize = 600;

/// The facts as lines; whole lines only. Nothing in it changes from one day to the next.
pub fn project_facts(file: &ProjectFile) -> String {
    let mut lines = vec![format!("name: {}", file.name)];
    let mut list = |title: &str, values: &[String]| {
        if !values.is_empty() {
            lines.push(format!("{title}: {}", values.join(", ")));
        }
    };
    list("languages", &file.profile.languages);
    list("build", &file.profile.build_systems);
    let checks: Vec<String> =
        file.verify.iter().flatten().map(|check| format!("{} (`{}`)", check.name, check.command)).collect();
    list("checks", &checks);
    lines.extend(file.profile.layout.iter().map(|line| format!("- {line}")));
    let mut text = String::new();
    for line in lines {
        if text.len() + line.len() + 1 > LIMIT {
            break;
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use air_contracts::project::ProjectProfile;

    use super::*;

    #[test]
    fn facts_are_bounded_whole_lines() {
        let layout = (0..100).map(|n| format!("folder{n}: code")).collect();
        let profile =
            ProjectProfile { languages: vec!["c++".into()], build_systems: vec!["cmake".into()], layout };
        let file = ProjectFile { name: "stats".into(), format: 1, profile, verify: None };
        let text = project_facts(&file);
        assert!(text.starts_with("name: stats\nlanguages: c++\nbuild: cmake\n- folder0: code\n"), "{text}");
        assert!(text.len() <= LIMIT && text.ends_with(": code\n"));
    }
}
