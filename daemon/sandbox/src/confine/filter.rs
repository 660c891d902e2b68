//! The seccomp filter: what neither namespaces nor Landlock hold. seccomp(2).
//!
//! Always refused: the kernel's key rings, pushing input into a terminal, sockets to the hypervisor.
//! Without an own mount namespace, sockets of the Unix domain too: a file that is not hidden can be
//! connected to, and behind it may be a service that runs commands for anyone.

use libc::sock_filter;

use crate::spec::SandboxReport;
use crate::sys;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E; // AUDIT_ARCH_X86_64
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7; // AUDIT_ARCH_AARCH64

/// Offsets in `struct seccomp_data`; both architectures are little-endian.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EACCES as u32;
const ABSENT: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// Holds this process and all that it starts. Needs no_new_privs.
pub fn install(report: &SandboxReport) -> std::io::Result<()> {
    sys::install_filter(&mut program(report.masked))
}

fn program(masked: bool) -> Vec<sock_filter> {
    let mut code = vec![
        load(ARCH),
        // A foreign architecture (32-bit programs) has other numbers: not held, and not broken.
        jump_equal(ARCHITECTURE, 1, 0),
        answer(ALLOW),
        load(NUMBER),
    ];
    for call in [libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key] {
        code.extend([jump_equal(call as u32, 0, 1), answer(ABSENT)]);
    }
    code.extend(refuse_argument(libc::SYS_ioctl, SECOND_ARGUMENT, libc::TIOCSTI as u32));
    code.extend(refuse_argument(libc::SYS_socket, FIRST_ARGUMENT, libc::AF_VSOCK as u32));
    if !masked {
        code.extend(refuse_argument(libc::SYS_socket, FIRST_ARGUMENT, libc::AF_UNIX as u32));
        // It makes and connects sockets without a system call of its own.
        code.extend([jump_equal(libc::SYS_io_uring_setup as u32, 0, 1), answer(ABSENT)]);
    }
    code.push(answer(ALLOW));
    code
}

/// Refuses `call` when the low half of one argument has the value; leaves the number loaded otherwise.
fn refuse_argument(call: libc::c_long, argument: u32, value: u32) -> [sock_filter; 5] {
    [jump_equal(call as u32, 0, 4), load(argument), jump_equal(value, 0, 1), answer(REFUSE), load(NUMBER)]
}

fn load(offset: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset)
}

fn jump_equal(value: u32, then: u8, otherwise: u8) -> sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, then, otherwise, value)
}

fn answer(action: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, 0, 0, action)
}

fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the filter answers to a call with these first two arguments.
    fn run(code: &[sock_filter], arch: u32, call: libc::c_long, arguments: [u32; 2]) -> u32 {
        let (mut at, mut loaded) = (0, 0);
        loop {
            let now = code[at];
            at += 1;
            match (u32::from(now.code) & 0x07, now.k) {
                (libc::BPF_LD, NUMBER) => loaded = call as u32,
                (libc::BPF_LD, ARCH) => loaded = arch,
                (libc::BPF_LD, FIRST_ARGUMENT) => loaded = arguments[0],
                (libc::BPF_LD, SECOND_ARGUMENT) => loaded = arguments[1],
                (libc::BPF_JMP, value) => at += usize::from(if loaded == value { now.jt } else { now.jf }),
                (libc::BPF_RET, action) => return action,
                other => panic!("unknown instruction {other:?}"),
            }
        }
    }

    fn check(call: libc::c_long, arguments: [i32; 2], masked: u32, bare: u32) {
        let arguments = arguments.map(|argument| argument as u32);
        assert_eq!(
            run(&program(true), ARCHITECTURE, call, arguments),
            masked,
            "masked: {call} {arguments:?}"
        );
        assert_eq!(run(&program(false), ARCHITECTURE, call, arguments), bare, "bare: {call} {arguments:?}");
        assert_eq!(run(&program(false), ARCHITECTURE ^ 1, call, arguments), ALLOW);
    }

    #[test]
    fn exactly_the_stated_calls_are_refused() {
        check(libc::SYS_keyctl, [0, 0], ABSENT, ABSENT);
        check(libc::SYS_add_key, [0, 0], ABSENT, ABSENT);
        check(libc::SYS_request_key, [0, 0], ABSENT, ABSENT);
        check(libc::SYS_ioctl, [0, libc::TIOCSTI as i32], REFUSE, REFUSE);
        check(libc::SYS_ioctl, [libc::TIOCSTI as i32, libc::TCGETS as i32], ALLOW, ALLOW);
        check(libc::SYS_socket, [libc::AF_VSOCK, libc::SOCK_STREAM], REFUSE, REFUSE);
        check(libc::SYS_socket, [libc::AF_UNIX, libc::SOCK_STREAM], ALLOW, REFUSE);
        check(libc::SYS_socket, [libc::AF_INET, libc::SOCK_STREAM], ALLOW, ALLOW);
        check(libc::SYS_socketpair, [libc::AF_UNIX, libc::SOCK_STREAM], ALLOW, ALLOW);
        check(libc::SYS_io_uring_setup, [1, 0], ALLOW, ABSENT);
        check(libc::SYS_execve, [0, 0], ALLOW, ALLOW);
    }
}
