//! The look that all pictures share: the font, the ground and its texts, light or dark as the reader's system is.

/// Ground, text, faint text and lines, in light and in dark.
const LIGHT: [&str; 4] = ["#fbfaf8", "#22211f", "#5f5b54", "#857f75"];
const DARK: [&str; 4] = ["#171716", "#eceae6", "#aaa59c", "#8d877d"];

/// A style sheet: rules that hold always, then `colours` for light, and again for dark.
pub(super) fn themed(always: &str, colours: impl Fn(bool) -> String) -> String {
    let sheet = |dark: bool| {
        let [ground, text, faint, line] = if dark { DARK } else { LIGHT };
        format!(
            ".ground{{fill:{ground}}}text{{fill:{text}}}.faint{{fill:{faint}}}.label{{stroke:{ground}}}\
             .edge,.axis{{stroke:{line}}}.tip,.plain{{fill:{line}}}{}",
            colours(dark)
        )
    };
    format!(
        "text{{font:12px system-ui,-apple-system,\"Segoe UI\",\"Noto Sans\",\"DejaVu Sans\",sans-serif}}\
         .title{{font-size:17px;font-weight:600}}{always}{}@media (prefers-color-scheme:dark){{{}}}",
        sheet(false),
        sheet(true)
    )
}
