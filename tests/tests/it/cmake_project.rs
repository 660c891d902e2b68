//! A small C++ project with one wrong line.

pub const FILES: &[(&str, &str)] = &[
    (
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)\nproject(sum LANGUAGES CXX)\nadd_library(sum sum.cpp)\nenable_testing()\nadd_executable(sum_test sum_test.cpp)\ntarget_link_libraries(sum_test PRIVATE sum)\nadd_test(NAME sum COMMAND sum_test)\n",
    ),
    ("sum.hpp", "#pragma once\n// The sum of both.\nint sum(int a, int b);\n"),
    ("sum.cpp", "#include \"sum.hpp\"\nint sum(int a, int b) { return a - b; }\n"),
    ("sum_test.cpp", "#include \"sum.hpp\"\nint main() { return sum(1, 2) == 3 ? 0 : 1; }\n"),
    (".gitignore", "build/\n"),
];

pub const REQUEST: &str = "sum(1, 2) is not 3, please fix it";

pub const BUILD_AND_TEST: &str = "{command: \"cmake -S . -B build && cmake --build build -j2 && ctest --test-dir build --output-on-failure\"}";

pub const EDIT: &str = "{path: sum.cpp, old_string: \"a - b\", new_string: \"a + b\"}";
