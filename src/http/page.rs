//! The page: one document, its styles and its modules, all of them in the program. No data is in it; it asks for what it shows.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use minijinja::{Environment, context};

use super::answer::Failure;

const TEMPLATE: &str = include_str!("page/index.html");

/// Name, media type and text of a file of the page.
macro_rules! asset {
    ($name:literal, $kind:literal) => {
        ($name, concat!($kind, "; charset=utf-8"), include_str!(concat!("page/", $name)))
    };
}

/// The files that the page names.
const ASSETS: &[(&str, &str, &str)] = &[
    asset!("api.js", "text/javascript"),
    asset!("cards.js", "text/javascript"),
    asset!("cite.js", "text/javascript"),
    asset!("confirm.js", "text/javascript"),
    asset!("council.js", "text/javascript"),
    asset!("draw.js", "text/javascript"),
    asset!("handoff.js", "text/javascript"),
    asset!("icon.svg", "image/svg+xml"),
    asset!("lanes.js", "text/javascript"),
    asset!("ledger.js", "text/javascript"),
    asset!("main.js", "text/javascript"),
    asset!("message.js", "text/javascript"),
    asset!("network.css", "text/css"),
    asset!("network.js", "text/javascript"),
    asset!("page.css", "text/css"),
    asset!("review.js", "text/javascript"),
    asset!("step.js", "text/javascript"),
    asset!("text.js", "text/javascript"),
];

/// `GET /`.
pub(super) async fn page() -> Result<Html<String>, Failure> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::Html);
    let rendered =
        environment.render_str(TEMPLATE, context! { title => "git-brain", version => env!("CARGO_PKG_VERSION") });
    rendered.map(Html).map_err(|_| Failure::broken())
}

/// `GET /assets/FILE`.
pub(super) async fn asset(file: Result<Path<String>, PathRejection>) -> Result<Response, Failure> {
    let Path(file) = file?;
    match ASSETS.iter().find(|(name, _, _)| *name == file) {
        Some((_, kind, text)) => Ok(([(header::CONTENT_TYPE, *kind)], *text).into_response()),
        None => Err(Failure::of(StatusCode::NOT_FOUND, "the page has no such file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_file_that_it_and_its_modules_name() {
        let has = |name: &str| ASSETS.iter().any(|(asset, _, _)| *asset == name);
        let texts = ASSETS.iter().map(|(_, _, text)| *text).chain([TEMPLATE]);
        let mut named = 0;
        for text in texts {
            for quoted in text.split(['"', '\'']) {
                let file = quoted.strip_prefix("/assets/").or_else(|| quoted.strip_prefix("./"));
                if let Some(file) = file.filter(|file| [".js", ".css", ".svg"].iter().any(|end| file.ends_with(end))) {
                    assert!(has(file), "{file} is named and not there");
                    named += 1;
                }
            }
        }
        assert!(named >= ASSETS.len(), "only {named} files are named, of {}", ASSETS.len());
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/http/page");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(name == "index.html" || has(&name), "{name} is not served");
        }
    }

    /// The policy allows none of these, so a page that has one does not work.
    #[test]
    fn nothing_in_the_page_is_inline() {
        for forbidden in ["<style", " style=", " onclick=", " onload=", "javascript:", "http://", "https://"] {
            assert!(!TEMPLATE.contains(forbidden), "{forbidden}");
        }
        for script in TEMPLATE.split("<script").skip(1) {
            assert!(script.trim_start().starts_with("type=\"module\" src=\"/assets/"), "{script}");
        }
        for (name, _, text) in ASSETS {
            // A namespace is a name: nobody asks there for anything.
            let text = text.replace(" xmlns=\"http://www.w3.org/2000/svg\"", "");
            for forbidden in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "http://",
                "https://",
                "@import",
            ] {
                assert!(!text.contains(forbidden), "{name}: {forbidden}");
            }
        }
    }
}
