"""Makes every system call with arguments that name files, processes and sockets outside, each in a process of its own."""

import ctypes
import os
import signal
import socket
import struct
import sys

outside, readable, port, *victims = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
kept = []


def ptr(data):
    buffer = ctypes.create_string_buffer(data, max(len(data), 64))
    kept.append(buffer)
    return ctypes.c_void_p(ctypes.addressof(buffer))


AT = -100
paths = [outside + "/file", outside + "/tool", outside + "/folder", readable, outside + "/git/HEAD"]
own = ptr(os.getcwd().encode() + b"/own")
open("own", "w").write("x")
times, name, value = ptr(struct.pack("4q", 1, 0, 1, 0)), ptr(b"user.x"), ptr(b"v")
zeros, mask = ptr(bytes(64)), ptr(struct.pack("Q", 1))
page = ptr(struct.pack("2Q", ctypes.addressof(kept[0]), 8))
fd = os.open(readable, os.O_RDONLY)
SET = 0o6777


def about_paths():
    for path in paths:
        at = ptr(path.encode())
        below = ptr(path.encode() + b".new")
        yield from [
            (at, 0), (at, SET), (at, times), (at, name, value, 1, 0), (at, name), (at, own), (own, at), (own, below),
            (AT, at, 0, 0), (AT, at, SET, 0), (AT, at, times, 0), (AT, at, AT, own, 0), (AT, own, AT, at, 0), (AT, own, AT, below, 0),
            (own, AT, below), (at, 65534, 65534), (AT, at, 65534, 65534, 0), (at, 0o1101, SET), (AT, at, 0o1101, SET),
            (AT, below, 0o101, SET), (below, 0o101, SET), (below, SET), (AT, below, 0o700), (at, at, ptr(b"tmpfs"), 0, 0), (at, own, ptr(b""), 0x1000, 0),
            (AT, at, 0x200, ptr(struct.pack("3Q", 0o1102, 0, 0)), 24),
        ]


def about_descriptors():
    flags = ptr(struct.pack("Q", 0x40))
    yield from [
        (fd, 0), (fd, SET), (fd, 100), (fd, 65534, 65534), (fd, name, value, 1, 0), (fd, name), (fd, 0, times, 0), (fd, times),
        (fd, 0x40086602, flags), (fd, 0x401C5820, flags), (fd, ptr(b""), SET, 0x1000), (fd, ptr(b""), 65534, 65534, 0x1000), (fd, ptr(b"x"), 1), (fd, 0, 0, 10),
    ]


def about_processes():
    for pid in [int(pid) for pid in victims] + [os.getppid()]:
        vector = page
        yield from [
            (pid, 9), (pid, 19), (pid, pid, 9), (pid, 9, zeros), (pid, pid, 9, zeros), (pid, 0, zeros, 0), (pid, 7, zeros, 0), (0, pid, 19), (1, pid, 0x6000),
            (pid, 8, mask), (pid, 3, zeros), (pid, zeros), (pid, zeros, 0), (16, pid, 0, 0), (0x4206, pid, 0, 0),
            (pid, vector, 1, vector, 1, 0), (pid, 1, page, zeros, zeros, 2), (pid, pid, 1, 0, 0), (62, 2, pid, 0, 0),
        ]
        handle = libc.syscall(434, pid, 0)
        if handle >= 0:
            yield from [(handle, 9, 0, 0), (handle, 3, 0), (handle, vector, 1, 20, 0), (handle, 0x7E020000), (handle, 0)]
    yield from [(2, 0, 19), (2, os.getuid(), 19), (3, 0, 0x6007), (3, os.getuid(), 0x6007), (1, 0, 19)]


def about_sockets():
    inet = ptr(struct.pack("!2sH4s8x", struct.pack("H", 2), int(port), b"\x7f\0\0\1"))
    unix = ptr(struct.pack("H", 1) + outside.encode() + b"/socket\0")
    for kind in ((1, 2), (1, 1), (2, 1), (2, 2), (40, 1), (16, 3), (17, 3)):
        made = libc.syscall(41, kind[0], kind[1], 0)
        if made >= 0:
            print("SOCKET", *kind)
            yield from [(made, inet, 16), (made, value, 1, 0, inet, 16), (made, unix, 110), (made, value, 1, 0, unix, 110)]
    pair = (ctypes.c_int * 2)()
    for kind in (1, 2, 5):
        if libc.syscall(53, 1, kind, 0, pair) == 0:
            yield from [(pair[0], unix, 110), (pair[0], value, 1, 0, unix, 110)]


# Those that end or copy the process that makes them.
MAKES_NO_SENSE = {15, 56, 57, 58, 60, 231, 435}
templates = [*about_paths(), *about_descriptors(), *about_processes(), *about_sockets()]
sys.stdout.flush()
tried = 0
for number in range(0, 470):
    if number in MAKES_NO_SENSE:
        continue
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        tried += len(templates)
        continue
    # The processes of one call; each of them makes it with all arguments, and begins again behind those it did not survive.
    done = os.open("done", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    while True:
        grandchild = os.fork()
        if grandchild == 0:
            os.setsid()
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            begin = len(os.pread(done, 100000, 0))
            for count, arguments in enumerate(templates[begin:], begin):
                os.pwrite(done, b".", count)
                signal.setitimer(signal.ITIMER_REAL, 0.01)
                libc.syscall(number, *arguments)
            os._exit(0)
        _, status = os.waitpid(grandchild, 0)
        if status == 0 or len(os.pread(done, 100000, 0)) >= len(templates):
            os._exit(0)
print("tried", tried)
