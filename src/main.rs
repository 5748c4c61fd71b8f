//! The program `git-brain`, so that users type `git brain …`. Everything is in the library.

use git_brain::brain::Doors;

fn main() -> std::process::ExitCode {
    git_brain::cli::main(&Doors {
        serve: |serving, announce| git_brain::http::serve(serving, git_brain::mcp::routes, announce),
        speak: git_brain::mcp::speak,
    })
}
