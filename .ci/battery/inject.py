#!/usr/bin/env python3
"""Runs a program whose system calls fail as those of a full, broken or read-only disk do, or of a process without handles.

`inject.py LOG BELOW CALL:ERROR,... -- PROGRAM ...` counts the calls, `inject.py LOG BELOW CALL:ERROR:when=N[+] -- PROGRAM ...` lets
the N-th fail, with `+` each later one too. A call is counted in each thread by itself, and only if a kernel could answer so: a
disk fails files and folders below BELOW, and no pipe, socket or event descriptor; it is full for what grows, and read-only for
what changes. `strace -e inject` cannot tell these apart. The call `any`, given as `any=CALL/CALL/...`, is all of these together, counted in all
threads.

The log has a line for each call that counts, or that was struck. Children are struck as well. Everything ends with this process.
"""

import ctypes
import errno
import os
import platform
import signal
import stat
import struct
import sys

# Calls by number, and where their arguments are: D an open file, P a path as it is, A a folder's handle and a path.
CALLS = {
    "read": (0, "D"), "write": (1, "D"), "pread64": (17, "D"), "pwrite64": (18, "D"), "writev": (20, "D"), "mmap": (9, "    D"),
    "dup": (32, " "), "socket": (41, " "), "execve": (59, "P"), "flock": (73, "D"), "fsync": (74, "D"), "fdatasync": (75, "D"),
    "ftruncate": (77, "D"), "getdents64": (217, "D"), "rename": (82, "P"), "mkdir": (83, "P"), "rmdir": (84, "P"),
    "link": (86, " P"), "unlink": (87, "P"), "openat": (257, "A"), "mkdirat": (258, "A"), "newfstatat": (262, "A"),
    "unlinkat": (263, "A"), "renameat": (264, "A"), "linkat": (265, "  A"), "pipe2": (293, " "), "statx": (332, "A"),
    "renameat2": (316, "A"), "copy_file_range": (326, "  D"), "epoll_create1": (291, " "), "eventfd2": (290, " "), "dup2": (33, " "),
    "dup3": (292, " "), "sendfile": (40, "D"), "symlink": (88, " P"), "symlinkat": (266, " A"), "chmod": (90, "P"), "fchmod": (91, "D"),
    "utimensat": (280, "A"), "fcntl": (72, "D"),
}
NAMES = {number: name for name, (number, _) in CALLS.items()}
# Errors that have to do with the process, or a program, and with no disk.
ANYWHERE = {("EACCES", "execve")}
F_DUPFD = (0, 1030)
LIBRARIES = ("/lib", "/usr/", "/etc/ld.so")
MAP_ANONYMOUS = 0x20

# From <sys/ptrace.h>, <linux/seccomp.h>, <linux/filter.h>.
SEIZE, CONT, LISTEN, GETREGS, SETREGS = 0x4206, 7, 0x4208, 12, 13
TRACE_FORK, TRACE_VFORK, TRACE_CLONE, TRACE_EXEC, TRACE_SECCOMP, EXITKILL = 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 7, 1 << 20
EVENT_EXEC, EVENT_SECCOMP, EVENT_STOP = 4, 7, 128
WALL = 0x40000000
NO_NEW_PRIVS, SET_SECCOMP, FILTER = 38, 22, 2
TRACE, ALLOW, X86_64 = 0x7FF00000, 0x7FFF0000, 0xC000003E
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long


class Registers(ctypes.Structure):
    """`struct user_regs_struct` of x86_64."""

    _fields_ = [(name, ctypes.c_ulonglong) for name in (
        "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs").split()]

    def arguments(self):
        """The six arguments of the call."""
        return [self.rdi, self.rsi, self.rdx, self.r10, self.r8, self.r9]


def ptrace(request, pid, data=0, registers=None):
    pointer = ctypes.byref(registers) if registers is not None else ctypes.c_void_p(data)
    return LIBC.ptrace(request, pid, None, ctypes.cast(pointer, ctypes.c_void_p))


def signed(value):
    """An argument that is an int, as the kernel reads it."""
    return ctypes.c_int(value & 0xFFFFFFFF).value


def stop_at(numbers):
    """A filter that stops this process, and all it will start, at these calls alone."""
    program = [(0x20, 0, 0, 4), (0x15, 0, len(numbers) + 1, X86_64), (0x20, 0, 0, 0)]
    program += [(0x15, len(numbers) - index, 0, number) for index, number in enumerate(numbers)]
    program += [(0x06, 0, 0, ALLOW), (0x06, 0, 0, TRACE)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))
    if LIBC.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) or LIBC.prctl(SET_SECCOMP, FILTER, header, 0, 0):
        raise OSError(ctypes.get_errno(), "no filter of system calls")


def text_at(pid, address):
    """A path in the memory of a process."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        found = b""
        while b"\0" not in found and len(found) < 8192:
            memory.seek(address + len(found))
            # Not beyond a page, behind which nothing may be.
            found += memory.read(4096 - (address + len(found)) % 4096)
    return os.fsdecode(found.split(b"\0")[0])


def place(pid, name, arguments):
    """What a call is about: a path, or none where it is no file."""
    kind = CALLS[name][1]
    at = len(kind) - 1
    if kind[at] == " ":
        return None
    if kind[at] == "D":
        return opened(pid, signed(arguments[at]))
    path = text_at(pid, arguments[at + (kind[at] == "A")])
    if path.startswith("/"):
        return os.path.normpath(path)
    folder = signed(arguments[at]) if kind[at] == "A" else -100
    if not path:
        return opened(pid, folder)
    try:
        above = os.readlink(f"/proc/{pid}/cwd" if folder == -100 else f"/proc/{pid}/fd/{folder}")
    except OSError:
        return None
    return os.path.normpath(os.path.join(above, path))


def opened(pid, number):
    """The path of an open file or folder; none for what is neither."""
    link = f"/proc/{pid}/fd/{number}"
    try:
        mode = os.stat(link).st_mode
        return os.readlink(link) if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else None
    except OSError:
        return None


def grows(name, arguments):
    """Whether a call may need room."""
    return name != "openat" or arguments[2] & os.O_CREAT


def changes(name, arguments):
    """Whether a call may change the disk."""
    return name != "openat" or arguments[2] & (os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_RDWR)


def may_fail(error, name, arguments, path, below):
    """Whether a kernel could answer this call with this error."""
    if error == "EMFILE":
        # A program that cannot load its libraries does not start, which is an error of `execve`.
        return signed(arguments[1]) in F_DUPFD if name == "fcntl" else not (path or "").startswith(LIBRARIES)
    if (error, name) in ANYWHERE:
        return True
    if path is None or not (path == below or path.startswith(below + "/")):
        return False
    if error == "EROFS" and os.path.basename(path).startswith("_git2_"):
        # A probe of libgit2's, made a moment ago: no disk takes a file and is read-only for the next call.
        return False
    return {"ENOSPC": grows, "EROFS": changes}.get(error, lambda *_: True)(name, arguments)


class Tracer:
    """One program and all it starts."""

    def __init__(self, log, below, wanted, error=None, when=0, on=False, of_all=False):
        self.log, self.below, self.wanted, self.error, self.when, self.on = log, below, wanted, error, when, on
        self.of_all, self.counts, self.begun = of_all, {}, False

    def run(self, argv):
        """To the end of all; gives the exit code of the first, as a shell has it."""
        ready, go = os.pipe()
        first = os.fork()
        if first == 0:
            try:
                os.close(go)
                os.read(ready, 1)
                os.close(ready)
                stop_at(sorted(CALLS[name][0] for name in self.wanted))
                os.execvp(argv[0], argv)
            finally:
                os._exit(127)
        os.close(ready)
        options = TRACE_FORK | TRACE_VFORK | TRACE_CLONE | TRACE_EXEC | TRACE_SECCOMP | EXITKILL
        if ptrace(SEIZE, first, options) != 0:
            os.kill(first, signal.SIGKILL)
            raise OSError(ctypes.get_errno(), "cannot trace")
        os.write(go, b".")
        os.close(go)
        code = 127
        while True:
            try:
                pid, status = os.waitpid(-1, WALL)
            except ChildProcessError:
                return code
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                if pid == first:
                    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
                continue
            self.stopped(pid, os.WSTOPSIG(status), status >> 16)

    def stopped(self, pid, number, event):
        """Lets a thread go on."""
        if event == EVENT_STOP:
            ptrace(CONT if number == signal.SIGTRAP else LISTEN, pid)
        elif event == EVENT_SECCOMP:
            self.called(pid)
            ptrace(CONT, pid)
        else:
            self.begun |= event == EVENT_EXEC
            ptrace(CONT, pid, 0 if event else number)

    def called(self, pid):
        """A thread is about to make a call."""
        registers = Registers()
        if not self.begun or ptrace(GETREGS, pid, registers=registers) != 0:
            return
        name, arguments = NAMES[registers.orig_rax], registers.arguments()
        if name == "mmap" and arguments[3] & MAP_ANONYMOUS:
            return
        try:
            path = place(pid, name, arguments)
        except OSError:
            return
        for error in [self.error] if self.error else self.wanted[name]:
            if not may_fail(error, name, arguments, path, self.below):
                continue
            key = error if self.of_all else (pid, name, error)
            count = self.counts[key] = self.counts.get(key, 0) + 1
            struck = self.error and (count == self.when or self.on and count > self.when)
            if struck:
                registers.orig_rax, registers.rax = 2**64 - 1, 2**64 - getattr(errno, error)
                ptrace(SETREGS, pid, registers=registers)
            if struck or not self.error:
                self.log.write(f"{pid} {name} {error} {count} {path or '-'}{' (INJECTED)' if struck else ''}\n")


def main():
    log, below, what, _, *argv = sys.argv[1:]
    if platform.machine() != "x86_64":
        sys.exit("inject.py knows the system calls of x86_64 alone")
    with open(log, "w", encoding="utf-8", errors="surrogateescape", buffering=1) as out:
        below = os.path.realpath(below)
        if ":when=" in what:
            name, error, when = what.split(":")
            when = when.removeprefix("when=")
            names = name.removeprefix("any=").split("/")
            strikes = (error, int(when.rstrip("+")), when.endswith("+"), name.startswith("any="))
            tracer = Tracer(out, below, {name: [error] for name in names}, *strikes)
        else:
            wanted = {}
            for name, error in (pair.split(":") for pair in what.split(",")):
                wanted.setdefault(name, []).append(error)
            tracer = Tracer(out, below, wanted)
        sys.exit(tracer.run(argv))


if __name__ == "__main__":
    main()
