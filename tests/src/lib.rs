//! End-to-end tests of the real binaries, and the test that keeps the architecture. See `tests/it`.
