//! The system calls that no safe crate wraps: fork, exec, signalfd, close_range, and a few more.
//!
//! Everything `unsafe` of this crate is here, each call with the reason why it is sound.

#![expect(unsafe_code, reason = "system calls without a safe wrapper in rustix or std")]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// Which side of a fork this is.
pub enum Forked {
    Parent(Pid),
    Child,
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn check_long(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// fork(2). Only for a process with one thread: the launcher never makes a second one.
pub fn fork() -> io::Result<Forked> {
    // SAFETY: with one thread no lock of the allocator or of std can be held by another.
    let pid = check(unsafe { libc::fork() })?;
    Ok(Pid::from_raw(pid).map_or(Forked::Child, Forked::Parent))
}

/// `_exit(2)`: ends without running anything that the parent will run too.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: does not return and touches no memory.
    unsafe { libc::_exit(code) }
}

/// Closes every descriptor from `first` on. close_range(2) is Linux 5.9; before it, the open files are
/// taken from `/proc/self/fd`.
pub fn close_from(first: i32) {
    // SAFETY: called before this process has opened anything that it owns.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first as libc::c_uint, libc::c_uint::MAX, 0) };
    if closed == 0 {
        return;
    }
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let open: Vec<i32> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for fd in open.into_iter().filter(|fd| *fd >= first) {
        // SAFETY: as above; the descriptor of the listing itself is already closed, which close(2) tolerates.
        unsafe { libc::close(fd) };
    }
}

fn signal_set(signals: &[libc::c_int]) -> libc::sigset_t {
    // SAFETY: sigemptyset initialises the set before it is read.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in signals {
            libc::sigaddset(&mut set, *signal);
        }
        set
    }
}

/// Blocks these signals for this thread, so that they wait for a [`signal_fd`].
pub fn block_signals(signals: &[libc::c_int]) -> io::Result<()> {
    let set = signal_set(signals);
    // SAFETY: the set is initialised and outlives the call.
    check(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) }).map(drop)
}

/// Ignores these signals; the disposition survives fork, not [`default_signals`].
pub fn ignore_signals(signals: &[libc::c_int]) {
    for signal in signals {
        // SAFETY: SIG_IGN installs no handler.
        unsafe { libc::signal(*signal, libc::SIG_IGN) };
    }
}

/// A descriptor that is readable while one of these (blocked) signals is pending: signalfd(2).
pub fn signal_fd(signals: &[libc::c_int]) -> io::Result<OwnedFd> {
    let set = signal_set(signals);
    // SAFETY: the set is initialised; the descriptor that comes back is new and ours.
    unsafe {
        let fd = check(libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// The numbers of the signals that were read from a [`signal_fd`].
pub fn signals_in(bytes: &[u8]) -> impl Iterator<Item = libc::c_int> {
    // `ssi_signo` is the first field of each record: signalfd(2).
    bytes.chunks_exact(size_of::<libc::signalfd_siginfo>()).filter_map(|record| {
        let number = record.first_chunk::<4>()?;
        libc::c_int::try_from(u32::from_ne_bytes(*number)).ok()
    })
}

/// Every signal as a fresh program expects it: default disposition, none blocked.
pub fn default_signals() {
    // The kernel's own structure, whose zeroes mean SIG_DFL. The C library would refuse the two signals
    // that it keeps for itself, and pass on what another one had left in them: rt_sigaction(2).
    static DEFAULT: [u64; 4] = [0; 4];
    const SET_SIZE: usize = 8;
    for signal in 1..=64 {
        // SAFETY: no handler is installed; SIGKILL and SIGSTOP are refused with EINVAL.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                &raw const DEFAULT,
                std::ptr::null_mut::<u64>(),
                SET_SIZE,
            )
        };
    }
    let none = signal_set(&[]);
    // SAFETY: the set is initialised and outlives the call.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut()) };
}

/// execve(2). Returns only when it failed.
pub fn exec(program: &CString, args: &[CString], env: &[CString]) -> io::Error {
    let pointers = |list: &[CString]| -> Vec<*const libc::c_char> {
        list.iter().map(|text| text.as_ptr()).chain(std::iter::once(std::ptr::null())).collect()
    };
    let (args, env) = (pointers(args), pointers(env));
    // SAFETY: both lists end in a null pointer and their strings live until the call returns.
    unsafe { libc::execve(program.as_ptr(), args.as_ptr(), env.as_ptr()) };
    io::Error::last_os_error()
}

/// unshare(2) of namespaces. `UnshareFlags::FILES` must not be among the flags.
pub fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: only the descriptor table is a matter of memory safety, and it is not unshared.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags.difference(UnshareFlags::FILES)) }?)
}

/// Makes the mount at `path` read-only for this mount namespace: mount_setattr(2), Linux 5.12.
pub fn mount_read_only(path: &CString) -> io::Result<()> {
    let attributes =
        libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: the structure and its size agree, and both pointers outlive the call.
    check_long(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    })
    .map(drop)
}

/// Brings `lo` of the current network namespace up: netdevice(7).
pub fn loopback_up() -> io::Result<()> {
    // SAFETY: the request is zeroed, its name ends in NUL, and the kernel writes only within it.
    unsafe {
        let socket = check(libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0))?;
        let socket = OwnedFd::from_raw_fd(socket);
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        check(libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw mut request)).map(drop)
    }
}

/// Installs a seccomp filter on this process: seccomp(2). Needs no_new_privs.
pub fn install_filter(program: &mut [libc::sock_filter]) -> io::Result<()> {
    let length = libc::c_ushort::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let filter = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    // SAFETY: the program and its length agree, and the kernel copies it before it returns.
    check_long(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER as libc::c_long,
            0_i64,
            &raw const filter,
        )
    })
    .map(drop)
}

/// The Landlock ABI of the running kernel, 0 where there is none: landlock_create_ruleset(2).
pub fn landlock_abi() -> u32 {
    const VERSION: libc::c_long = 1;
    // SAFETY: with this flag the call takes no memory and only answers with a number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0_usize, 0_usize, VERSION) };
    u32::try_from(abi).unwrap_or(0)
}

/// A pidfd of the process that connected a Unix socket: `SO_PEERPIDFD`, Linux 6.5.
pub fn peer_pidfd(socket: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let mut fd: libc::c_int = -1;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the buffer has the stated size; the descriptor that comes back is new and ours.
    unsafe {
        check(libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_PEERPIDFD,
            (&raw mut fd).cast(),
            &raw mut length,
        ))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// `SO_PEERPIDFD` of asm-generic/socket.h, the same on x86_64 and aarch64.
const SO_PEERPIDFD: libc::c_int = 77;

/// Whether this process may make a user namespace, tried in a child that ends at once.
pub fn can_unshare_user() -> bool {
    // SAFETY: the child calls nothing but async-signal-safe system calls, so other threads do not matter.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(libc::c_int::from(libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) != 0));
        }
        let mut status = 0;
        child > 0 && libc::waitpid(child, &raw mut status, 0) == child && status == 0
    }
}
