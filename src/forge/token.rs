//! Tokens: where one is looked for, and that nothing prints it.

use super::{Kind, Place};
use crate::store::{credential, printed_by};
use crate::world::World;

/// The variables that hold tokens of forges.
pub const VARIABLES: [&str; 5] = ["GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "GITEA_TOKEN", "FORGEJO_TOKEN"];

/// A token. No text that it makes holds it.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A token, if the text can be one.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty() && text.chars().all(|c| c.is_ascii_graphic())).then(|| Self(text.to_owned()))
    }

    /// The token itself.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

fn variables(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Github => &["GITHUB_TOKEN", "GH_TOKEN"],
        Kind::Gitlab => &["GITLAB_TOKEN"],
        Kind::Forgejo => &["FORGEJO_TOKEN", "GITEA_TOKEN"],
        Kind::Gitea => &["GITEA_TOKEN", "FORGEJO_TOKEN"],
        Kind::Radicle => &[],
    }
}

/// The token for a place: of the environment, else what git's credential helpers have for its address, else what the forge's own
/// command line has. Nobody is asked on the terminal.
pub fn token(place: &Place, world: &World) -> Option<Token> {
    let of_environment = variables(place.kind).iter().find_map(|name| Token::of(&world.key(name)?));
    let of_git = || Token::of(&credential(place.web()?).ok()??);
    let of_program = || {
        let host = place.host()?;
        let arguments: &[&str] = match place.kind {
            Kind::Github => &["gh", "auth", "token", "--hostname", host],
            Kind::Gitlab => &["glab", "auth", "status", "--show-token", "--hostname", host],
            _ => return None,
        };
        let printed = printed_by(arguments[0], &arguments[1..])?;
        match place.kind {
            Kind::Github => Token::of(&printed),
            _ => shown(&printed),
        }
    };
    of_environment.or_else(of_git).or_else(of_program)
}

/// The token in what `glab auth status --show-token` prints.
fn shown(printed: &str) -> Option<Token> {
    // A host, a login or a folder above may have the word in it.
    let after = |line: &str| {
        let line = line.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        Some(line.strip_prefix("Token")?.rsplit_once(": ")?.1.to_owned())
    };
    Token::of(&printed.lines().find_map(after)?).filter(|token| !token.0.contains('*'))
}

/// Where a token is looked for, in words.
pub(super) fn places(place: &Place) -> String {
    let web = place.web().unwrap_or_default();
    let named = variables(place.kind).join(" or ");
    format!("set {named}; or let git keep one for {web} (`git credential approve`)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_in_no_text_and_is_one_word() {
        let token = Token::of(" abc123\n").unwrap();
        assert_eq!((token.secret(), format!("{token:?}").as_str()), ("abc123", "Token"));
        assert!(Token::of("").is_none() && Token::of("a b").is_none() && Token::of("a\r\nX: y").is_none());
    }

    #[test]
    fn a_token_that_glab_shows_is_read() {
        for word in ["Token found", "Token"] {
            let printed =
                format!("gitlab.com\n  ✓ Logged in to gitlab.com as a-token (/x/token: y)\n  ✓ {word}: glpat-abc\n");
            assert_eq!(shown(&printed).unwrap().secret(), "glpat-abc");
        }
        assert!(shown("  ✓ Token found: **************\n").is_none() && shown("no").is_none());
    }
}
