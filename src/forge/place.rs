//! From a remote's address and the settings to a forge: which one, where its interface lies, which repository.

use reqwest::Url;

use super::ForgeError;
use crate::model::settings;

/// Which forge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// github.com, or GitHub Enterprise.
    Github,
    /// gitlab.com, or a GitLab of one's own.
    Gitlab,
    /// codeberg.org, or a Forgejo of one's own.
    Forgejo,
    /// gitea.com, or a Gitea of one's own.
    Gitea,
    /// Radicle.
    Radicle,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Github => "GitHub",
            Self::Gitlab => "GitLab",
            Self::Forgejo => "Forgejo",
            Self::Gitea => "Gitea",
            Self::Radicle => "Radicle",
        }
    }

    /// Its name in settings, and before the login of a person there.
    pub fn word(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Forgejo => "forgejo",
            Self::Gitea => "gitea",
            Self::Radicle => "radicle",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "github" => Self::Github,
            "gitlab" => Self::Gitlab,
            "forgejo" => Self::Forgejo,
            "gitea" => Self::Gitea,
            "radicle" => Self::Radicle,
            _ => return None,
        })
    }

    /// The forge that a host is known to be.
    fn of_host(host: &str) -> Option<Self> {
        Some(match host {
            "github.com" | "ssh.github.com" => Self::Github,
            "gitlab.com" | "altssh.gitlab.com" => Self::Gitlab,
            "codeberg.org" => Self::Forgejo,
            "gitea.com" => Self::Gitea,
            _ => return None,
        })
    }

    /// The path of its interface below the forge's own address.
    fn interface(self) -> &'static str {
        match self {
            Self::Github => "/api/v3",
            Self::Gitlab => "/api/v4",
            Self::Forgejo | Self::Gitea => "/api/v1",
            Self::Radicle => "",
        }
    }
}

/// A repository on a forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The forge.
    pub kind: Kind,
    /// The address of its interface; `None`: it has none.
    api: Option<Url>,
    /// The address that keys are kept for.
    web: Option<String>,
    /// `owner/name`.
    pub repository: String,
}

/// An address of a remote, as far as forges are concerned.
#[derive(Debug, PartialEq, Eq)]
struct Address {
    scheme: String,
    host: String,
    port: Option<u16>,
    path: String,
}

impl Place {
    /// The place that a remote's address and the settings `[forge]` say.
    ///
    /// # Errors
    /// Neither says which forge it is, or which repository.
    pub fn of(address: &str, forge: &settings::Forge) -> Result<Self, ForgeError> {
        let parsed = Address::of(address);
        let host = parsed.as_ref().map_or("", |a| a.host.as_str());
        let is_radicle = parsed.as_ref().is_some_and(|a| a.scheme == "rad");
        let known = if is_radicle { Some(Kind::Radicle) } else { Kind::of_host(host) };
        let Some(kind) = Kind::of_word(&forge.kind).or(known) else {
            return Err(ForgeError::Settings {
                message: format!("{} is no forge that is known by its address", clean(address)),
                hint: "`git config brain.forge.kind KIND` says which it is (github, gitlab, forgejo, gitea, radicle); \
                       `--remote` names another remote. A remote that is no forge needs no requests: `git brain review`, `approve` and `reject` decide, and `git brain sync` brings that there"
                    .to_owned(),
            });
        };
        if kind == Kind::Radicle {
            return Ok(Self { kind, api: None, web: None, repository: String::new() });
        }
        let repository = match (&forge.repository, &parsed) {
            (named, _) if !named.is_empty() => named.clone(),
            (_, Some(address)) => address.repository(kind),
            _ => String::new(),
        };
        if !is_repository(&repository) {
            return Err(ForgeError::Settings {
                message: format!("{} does not say which repository of {} it is", clean(address), kind.name()),
                hint: "`git config brain.forge.repository OWNER/NAME`".to_owned(),
            });
        }
        let bad = |message: String| ForgeError::Settings {
            message,
            hint: "`git config brain.forge.url https://HOST/api/…` is the address of its interface".to_owned(),
        };
        let own = match (Kind::of_host(host) == Some(kind), kind) {
            (true, Kind::Github) => Some("https://api.github.com".to_owned()),
            (true, Kind::Gitlab) => Some("https://gitlab.com/api/v4".to_owned()),
            _ => parsed.as_ref().and_then(|address| address.interface(kind, &repository)),
        };
        let api = if forge.url.is_empty() { own } else { Some(forge.url.clone()) };
        let api = api.ok_or_else(|| bad(format!("{} does not say where {} is", clean(address), kind.name())))?;
        let api = Url::parse(&api).map_err(|e| bad(format!("forge.url is no address: {e}")))?;
        if !["http", "https"].contains(&api.scheme()) || api.host_str().is_none() {
            return Err(bad("forge.url is not of the form https://HOST/PATH".to_owned()));
        }
        if !api.username().is_empty() || api.password().is_some() || api.query().is_some() || api.fragment().is_some() {
            return Err(bad("forge.url holds more than a host and a path".to_owned()));
        }
        let of_web = if api.host_str() == Some("api.github.com") {
            "https://github.com/".to_owned()
        } else {
            format!("{}/", api.origin().ascii_serialization())
        };
        Ok(Self { kind, api: Some(api), web: Some(of_web), repository })
    }

    /// The address of its interface.
    pub fn api(&self) -> Option<&Url> {
        self.api.as_ref()
    }

    /// The address that keys are kept for, as `https://github.com/`.
    pub fn web(&self) -> Option<&str> {
        self.web.as_deref()
    }

    /// The host of that address.
    pub(super) fn host(&self) -> Option<&str> {
        self.web()?.split("://").nth(1)?.strip_suffix('/')
    }
}

impl Address {
    /// Reads `https://host/path`, `ssh://user@host:port/path`, `user@host:path` and `rad://id`; nothing of a path on this machine.
    fn of(address: &str) -> Option<Self> {
        let (scheme, rest) = match address.split_once("://") {
            Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest.to_owned()),
            None => {
                let (host, path) = address.split_once(':').filter(|(host, _)| !host.contains('/'))?;
                ("ssh".to_owned(), format!("{host}/{path}"))
            }
        };
        if scheme == "file" {
            return None;
        }
        let (authority, path) = rest.split_once('/').unwrap_or((&rest, ""));
        let host = authority.rsplit('@').next().unwrap_or_default();
        let (host, port) = match host.rsplit_once(':') {
            Some((name, port)) if !host.ends_with(']') => (name, Some(port.parse().ok()?)),
            _ => (host, None),
        };
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/').to_owned();
        Some(Self { scheme, host: host.trim_end_matches('.').to_ascii_lowercase(), port, path })
    }

    /// The repository that the path names: of GitLab, whose groups nest, all of it.
    fn repository(&self, kind: Kind) -> String {
        let parts: Vec<&str> = self.path.split('/').collect();
        if kind == Kind::Gitlab { self.path.clone() } else { parts[parts.len().saturating_sub(2)..].join("/") }
    }

    /// Where the forge's interface lies, if nobody says it. A port of ssh is none of http.
    fn interface(&self, kind: Kind, repository: &str) -> Option<String> {
        let is_web = ["http", "https"].contains(&self.scheme.as_str());
        let scheme = if self.scheme == "http" { "http" } else { "https" };
        let port = self.port.filter(|_| is_web).map(|port| format!(":{port}")).unwrap_or_default();
        let folder = self.path.strip_suffix(repository).unwrap_or_default().trim_matches('/');
        let folder = if folder.is_empty() || !is_web { String::new() } else { format!("/{folder}") };
        (!self.host.is_empty()).then(|| format!("{scheme}://{}{port}{folder}{}", self.host, kind.interface()))
    }
}

/// `owner/name`, or `group/subgroup/name`: parts that need no escape in an address.
fn is_repository(text: &str) -> bool {
    let good = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.~".contains(c))
    };
    text.len() <= crate::limits::FORGE_REPOSITORY_BYTES && text.contains('/') && text.split('/').all(good)
}

/// An address for a message: without user and password.
fn clean(address: &str) -> String {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), address),
    };
    let (authority, path) = rest.split_once('/').map_or((rest, String::new()), |(a, p)| (a, format!("/{p}")));
    let host = if scheme.is_empty() { authority } else { authority.rsplit('@').next().unwrap_or_default() };
    format!("{scheme}{host}{path}").chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(address: &str, kind: &str, url: &str, repository: &str) -> Result<Place, ForgeError> {
        let text = |t: &str| t.to_owned();
        let forge = settings::Forge {
            kind: text(kind),
            url: text(url),
            repository: text(repository),
            ..settings::Forge::default()
        };
        Place::of(address, &forge)
    }

    #[test]
    fn a_forge_is_known_by_the_remotes_address() {
        for (address, kind, api, repository) in [
            ("https://github.com/ann/brain.git", Kind::Github, "https://api.github.com/", "ann/brain"),
            ("git@github.com:ann/brain.git", Kind::Github, "https://api.github.com/", "ann/brain"),
            ("ssh://git@ssh.github.com:443/ann/brain.git", Kind::Github, "https://api.github.com/", "ann/brain"),
            ("https://me:secret@GitHub.com/ann/brain/", Kind::Github, "https://api.github.com/", "ann/brain"),
            ("https://gitlab.com/a/b/brain.git", Kind::Gitlab, "https://gitlab.com/api/v4", "a/b/brain"),
            ("git@codeberg.org:ann/brain", Kind::Forgejo, "https://codeberg.org/api/v1", "ann/brain"),
            ("https://gitea.com/ann/brain", Kind::Gitea, "https://gitea.com/api/v1", "ann/brain"),
        ] {
            let place = place(address, "", "", "").unwrap();
            assert_eq!((place.kind, place.repository.as_str()), (kind, repository), "{address}");
            assert_eq!(place.api().unwrap().as_str(), api, "{address}");
        }
        let github = place("git@github.com:ann/brain.git", "", "", "").unwrap();
        assert_eq!((github.web(), github.host()), (Some("https://github.com/"), Some("github.com")));
        assert_eq!(place("rad://z3gqcJUoA1n9HaHKufZs5FCSGazv5", "", "", "").unwrap().kind, Kind::Radicle);
    }

    #[test]
    fn settings_say_what_the_address_does_not() {
        for (address, kind, url, repository, api) in [
            ("https://git.example/a/b", "forgejo", "", "", "https://git.example/api/v1"),
            ("https://git.example:8443/sub/a/b.git", "gitea", "", "", "https://git.example:8443/sub/api/v1"),
            ("ssh://git@git.example:2222/a/b.git", "gitlab", "", "", "https://git.example/api/v4"),
            ("https://ghe.example/a/b.git", "github", "", "", "https://ghe.example/api/v3"),
            ("/srv/brain.git", "github", "http://127.0.0.1:4001", "a/b", "http://127.0.0.1:4001/"),
            ("work:a/b", "github", "https://api.github.com", "", "https://api.github.com/"),
        ] {
            let place = place(address, kind, url, repository).unwrap();
            assert_eq!((place.api().unwrap().as_str(), place.repository.as_str()), (api, "a/b"), "{address}");
        }
    }

    #[test]
    fn an_address_that_is_no_use_is_named_without_its_password() {
        for (address, kind, url, repository, part) in [
            ("/srv/brain.git", "", "", "", "is no forge"),
            ("https://me:secret@host.example/a/b", "", "", "", "https://host.example/a/b is no forge"),
            ("https://github.com.evil.example/a/b", "", "", "", "is no forge"),
            ("/srv/brain.git", "github", "https://h.example", "", "which repository"),
            ("https://github.com/../x", "", "", "", "which repository"),
            ("https://github.com/a/b?x=1", "", "", "", "which repository"),
            ("/srv/brain.git", "github", "", "a/b", "where GitHub is"),
            ("https://github.com/a/b", "", "ftp://x", "", "https://HOST/PATH"),
            ("https://github.com/a/b", "", "https://me:secret@h.example", "", "more than a host"),
        ] {
            let error = place(address, kind, url, repository).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("secret"), "{address}: {error}");
        }
    }
}
