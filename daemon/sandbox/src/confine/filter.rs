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
