//! The files of data, in the binary.

/// Name and text of each file.
pub(super) const FILES: &[(&str, &str)] = &[
    ("build.toml", include_str!("../../data/programs/build.toml")),
    ("compilers.toml", include_str!("../../data/programs/compilers.toml")),
    ("files.toml", include_str!("../../data/programs/files.toml")),
    ("git.toml", include_str!("../../data/programs/git.toml")),
    ("languages.toml", include_str!("../../data/programs/languages.toml")),
    ("network.toml", include_str!("../../data/programs/network.toml")),
    ("system.toml", include_str!("../../data/programs/system.toml")),
    ("text.toml", include_str!("../../data/programs/text.toml")),
    ("wrappers.toml", include_str!("../../data/programs/wrappers.toml")),
];
