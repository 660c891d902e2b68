//! A new migration is compiled in: `sqlx::migrate!` alone does not notice new files.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
