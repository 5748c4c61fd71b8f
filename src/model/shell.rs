//! Words of commands that people are told to give.

/// A word as a shell reads it back: quoted, if it has anything but letters, digits and `/._-+:@=,`.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@=,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_spaces_and_signs_are_quoted() {
        assert_eq!(shell_word("/home/ann/notes"), "/home/ann/notes");
        assert_eq!(shell_word("お茶/thé.md"), "お茶/thé.md");
        assert_eq!(shell_word("my notes"), "'my notes'");
        assert_eq!(shell_word("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(shell_word(""), "''");
    }
}
