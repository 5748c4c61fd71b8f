//! Text inside of XML: the one function that all files of XML are written with, be they SVG, GraphML or another.

/// A text that no reader of XML takes for markup, between tags and between quotes. Characters that XML cannot have, not even escaped, become
/// the sign for that.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c if (c < ' ' && !matches!(c, '\n' | '\t')) || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_keeps_text_and_makes_no_markup_of_it() {
        assert_eq!(xml("お茶 & <b>\"a\" 'b'</b>\n\tx"), "お茶 &amp; &lt;b&gt;&quot;a&quot; &#39;b&#39;&lt;/b&gt;\n\tx");
        assert_eq!(xml("a\u{0}\u{1b}\r\u{ffff}b"), "a\u{fffd}\u{fffd}\u{fffd}\u{fffd}b");
    }
}
