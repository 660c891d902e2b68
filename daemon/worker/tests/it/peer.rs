//! A command must not be able to talk to the daemon, whatever it does to hide where it comes from.

use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};

use air_contracts::error::codes;
use air_sandbox::{peer_verdict, peer_verdict_of};

use crate::bed::{Bed, until};

#[test]
fn a_client_of_the_user_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    let _client = UnixStream::connect(&socket).unwrap();
    let (served, _) = listener.accept().unwrap();
    peer_verdict_of(served.as_fd()).unwrap();
}

#[test]
fn a_command_that_reaches_the_socket_is_refused() {
    let connect = "perl -MIO::Socket::UNIX -e '$s=IO::Socket::UNIX->new(Peer=>\"s\") or die $!; print <$s>'";
    let bed = Bed::new(connect);
    let listener = UnixListener::bind(bed.path("ws/s")).unwrap();
    let run = bed.start();
    let (served, _) = listener.accept().unwrap();
    let error = peer_verdict_of(served.as_fd()).unwrap_err();
    assert!(error.is(codes::PEER_REFUSED), "{error}");
    drop(served);
    assert_eq!(run.wait().record.exit_code, Some(0));
}

/// Not a test by itself: started inside a run, where it judges itself from within the same namespaces.
#[test]
#[ignore = "started inside a run by the test below"]
fn judge_myself() {
    if let Some(file) = std::env::var_os("VERDICT") {
        let verdict = peer_verdict(std::process::id(), rustix::process::geteuid().as_raw());
        let text = verdict.map_or_else(|error| error.message, |()| "served".to_owned());
        std::fs::write(file, format!("{text}\n")).unwrap();
    }
}

#[test]
fn a_command_is_known_by_its_launcher_even_as_an_orphan() {
    let me = std::env::current_exe().unwrap();
    let judge = format!("{} --exact peer::judge_myself --include-ignored >/dev/null", me.display());
    // A double fork with a session of its own; the shells above it have ended when it judges.
    let orphan =
        format!("(setsid bash -c 'until [ -e go ]; do sleep 0.01; done; VERDICT=orphan {judge}' &) ; exit 0");
    let command = format!("VERDICT=child {judge}; {orphan}");
    let run = Bed::new(&command).with(|spec| spec.background = true).start();
    let read = |name: &str| until(name, || Some(run.bed.read(name)).filter(|text| text.ends_with('\n')));
    let verdict = read("child");
    assert!(verdict.contains("started by a command of AirCoding"), "{verdict}");
    std::fs::write(run.bed.path("ws/go"), "").unwrap();
    let verdict = read("orphan");
    assert!(verdict.contains("started by a command of AirCoding"), "{verdict}");
    run.wait();
}
