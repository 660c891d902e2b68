//! `air`: the command line of AirCoding.

fn main() -> std::process::ExitCode {
    air_client_cli::main()
}
