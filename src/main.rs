//! The program `git-brain`, so that users type `git brain …`. Everything is in the library.

fn main() -> std::process::ExitCode {
    git_brain::cli::main(git_brain::http::serve)
}
