//! Programs of others as children whose output is wanted: git and `ssh-keygen`. Arguments only, no shell.
//!
//! As `std::process::Command::output`, which panics where a pipe cannot be read.

use std::io::{self, Read, Write};
use std::process::{Command, Output, Stdio};

/// Runs the program with `input` on its standard input, and gives what it printed and how it ended.
///
/// # Errors
/// It cannot be started (not found: there is no such program), or not be listened to; then it is killed.
pub(super) fn ended(command: &mut Command, input: &[u8]) -> io::Result<Output> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdin, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let heard = std::thread::scope(|scope| {
        // A program that does not read its input may still answer; if it dies over it, its status says so.
        let thread = std::thread::Builder::new;
        let heard = thread().spawn_scoped(scope, move || stdin.map(|mut pipe| pipe.write_all(input))).and_then(|_| {
            let err = thread().spawn_scoped(scope, || all_of(err))?;
            let out = all_of(out);
            let err = err.join().unwrap_or_else(|_| Err(io::Error::other("the reader of its errors died")));
            Ok((out?, err?))
        });
        if heard.is_err() {
            let _ = child.kill();
        }
        heard
    });
    let status = child.wait()?;
    heard.map(|(stdout, stderr)| Output { status, stdout, stderr })
}

fn all_of(pipe: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_reads_answers_and_complains_at_once() {
        let input = vec![b'x'; 1 << 20];
        let ended = ended(Command::new("sh").args(["-c", "tee /dev/stderr"]), &input).unwrap();
        assert!(ended.status.success() && ended.stdout == input && ended.stderr == input);
    }

    #[test]
    fn what_is_not_there_and_what_does_not_listen() {
        let none = ended(&mut Command::new("/nonexistent"), b"").unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::NotFound);
        let deaf = ended(Command::new("sh").args(["-c", "exec <&-; exit 3"]), &[b'x'; 1 << 20]).unwrap();
        assert_eq!(deaf.status.code(), Some(3));
    }
}
