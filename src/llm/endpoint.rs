//! From a model of the settings to an address and a key.

use reqwest::Url;

use super::LlmError;
use crate::model::settings::Model;
use crate::world::World;

/// A model that can be called. Its key is in no text that it makes.
pub struct Endpoint {
    place: String,
    model: String,
    url: Url,
    key: Option<String>,
}

impl Endpoint {
    /// The endpoint for embeddings of `[models.NAME]`: `{base_url}/embeddings`.
    ///
    /// # Errors
    /// A provider without such endpoints, an address that is none, a key that is not there, or one that would go over the network in
    /// plain text.
    pub fn embeddings(name: &str, model: &Model, world: &World) -> Result<Self, LlmError> {
        let base = match (&model.base_url, model.provider.as_str()) {
            (Some(base), "openai" | "ollama") => base.as_str(),
            (None, "openai") => "https://api.openai.com/v1",
            (None, "ollama") => "http://127.0.0.1:11434/v1",
            (_, other) => {
                let message = format!("{other} has no embeddings here; `openai` is any endpoint of that form");
                return Err(LlmError::Settings { name: name.to_owned(), message });
            }
        };
        let base = format!("{}/embeddings", base.trim_end_matches('/'));
        Self::at(name, model, &base, key_in_environment(name, model, world)?)
    }

    /// Where `[models.NAME]` is talked to: the address under which its provider's protocol has its paths, with a `/` at its end.
    ///
    /// # Errors
    /// An address that is none, or a key that would go over the network in plain text.
    pub fn chat(name: &str, model: &Model, key: Option<String>) -> Result<Self, LlmError> {
        let own = match model.provider.as_str() {
            "anthropic" => "https://api.anthropic.com/v1",
            "gemini" => "https://generativelanguage.googleapis.com/v1beta",
            "deepseek" => "https://api.deepseek.com/v1",
            "ollama" => "http://127.0.0.1:11434",
            _ => "https://api.openai.com/v1",
        };
        let base = model.base_url.as_deref().unwrap_or(own).trim_end_matches('/');
        // Ollama's own protocol lies beside the one of OpenAI's form, which people often name.
        let base = if model.provider == "ollama" { base.trim_end_matches("/v1") } else { base };
        Self::at(name, model, &format!("{base}/"), key)
    }

    fn at(name: &str, model: &Model, address: &str, key: Option<String>) -> Result<Self, LlmError> {
        let fail = |message: String| LlmError::Settings { name: name.to_owned(), message };
        let url = Url::parse(address).map_err(|e| fail(format!("base_url is no address: {e}")))?;
        if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
            return Err(fail("base_url is not of the form https://HOST/PATH".to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
            return Err(fail("base_url holds more than a host and a path; a key belongs into key_env".to_owned()));
        }
        if key.is_some() && url.scheme() == "http" && !is_this_machine(&url) {
            return Err(fail(format!("{url} is not encrypted, and a key would be sent there")));
        }
        Ok(Self { place: format!("{} ({name}) at {url}", model.model), model: model.model.clone(), url, key })
    }

    /// Model and address, for errors.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// What its vectors belong to: no other model, and none of the same name elsewhere, has the same ones.
    pub fn identity(&self) -> String {
        format!("{}\n{}", self.url, self.model)
    }

    /// Where it lies.
    pub fn address(&self) -> String {
        self.url.to_string()
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn model(&self) -> &str {
        &self.model
    }

    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.place)
    }
}

/// The key that the environment has for a model; `None` if its settings name no variable.
///
/// # Errors
/// They name one that is not set.
pub fn key_in_environment(name: &str, model: &Model, world: &World) -> Result<Option<String>, LlmError> {
    let Some(variable) = &model.key_env else { return Ok(None) };
    let missing =
        || LlmError::Settings { name: name.to_owned(), message: format!("the variable {variable} is not set") };
    world.key(variable).ok_or_else(missing).map(Some)
}

/// Whether an address is of this machine, so that nothing goes over a network.
pub(crate) fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(provider: &str, base_url: Option<&str>, key_env: Option<&str>) -> Result<Endpoint, LlmError> {
        let text = |t: &str| t.to_owned();
        let model = Model { base_url: base_url.map(text), key_env: key_env.map(text), ..Model::of(provider, "m") };
        Endpoint::embeddings("small", &model, &World::default())
    }

    #[test]
    fn addresses_are_made_of_base_urls() {
        for (provider, base, url) in [
            ("openai", Some("http://127.0.0.1:1/v1"), "http://127.0.0.1:1/v1/embeddings"),
            ("openai", Some("https://h.example/v1/"), "https://h.example/v1/embeddings"),
            ("openai", None, "https://api.openai.com/v1/embeddings"),
            ("ollama", None, "http://127.0.0.1:11434/v1/embeddings"),
        ] {
            let endpoint = endpoint(provider, base, None).unwrap();
            assert_eq!(endpoint.url().as_str(), url);
            assert_eq!(endpoint.place(), format!("m (small) at {url}"));
        }
    }

    #[test]
    fn what_cannot_be_called_is_refused_before_anything_is_sent() {
        let set = std::env::vars().find(|(_, value)| value.len() > 3).unwrap();
        for (provider, base, key, part) in [
            ("anthropic", Some("http://127.0.0.1:1"), None, "anthropic"),
            ("openai", Some("127.0.0.1"), None, "base_url"),
            ("openai", Some("file:///etc/passwd"), None, "base_url"),
            ("openai", Some("https://me:secret@h.example/v1"), None, "key_env"),
            ("openai", Some("https://h.example/v1?key=secret"), None, "base_url"),
            ("openai", Some("https://h.example/v1"), Some("NO_SUCH_VARIABLE_AT_ALL"), "NO_SUCH_VARIABLE_AT_ALL"),
            ("openai", Some("http://h.example/v1"), Some(set.0.as_str()), "not encrypted"),
        ] {
            let error = endpoint(provider, base, key).unwrap_err().to_string();
            assert!(error.starts_with("models.small: ") && error.contains(part), "{error}");
            assert!(!error.contains("secret") && !error.contains(&set.1), "{error}");
        }
        assert!(endpoint("openai", Some("http://[::1]:9/v1"), Some(&set.0)).is_ok());
    }

    #[test]
    fn the_key_is_in_no_text() {
        let (name, value) = std::env::vars().find(|(_, value)| value.len() > 8).unwrap();
        let endpoint = endpoint("openai", Some("https://h.example"), Some(&name)).unwrap();
        assert_eq!(endpoint.key(), Some(value.as_str()));
        assert!(!format!("{endpoint:?} {} {}", endpoint.place(), endpoint.identity()).contains(&value));
    }
}
