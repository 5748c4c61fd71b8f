//! Models that agents may think with, as the settings name them. Inert until trusted.

use core::net::IpAddr;

use serde::{Deserialize, Serialize};
use url::Url;

use super::spending::Cost;
use crate::limits;

/// `[models.NAME]`: a model that agents may think with. Inert until trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// `anthropic`, `openai`, `openai-responses`, `gemini`, `deepseek` or `ollama`.
    pub provider: String,
    /// The provider's name of the model.
    pub model: String,
    /// The family it belongs to; a skeptic must be of another.
    #[serde(default)]
    pub family: Option<String>,
    /// Where it is reached, if not at the provider's own address.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The name of the environment variable that holds the key; never the key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// True: the key is what `git credential` has for the address.
    #[serde(default)]
    pub key_from_git: bool,
    /// How freely it answers, 0 to 2; not said: as the provider does without being asked.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// Longest answer, tokens.
    #[serde(default = "default_answer")]
    pub max_tokens: u32,
    /// What it can read and write in one exchange, tokens.
    #[serde(default = "default_context")]
    pub context: u32,
    /// How long one exchange may take with all its tries, milliseconds.
    #[serde(default = "default_timeout")]
    pub timeout_ms: u64,
    /// How often a failure that may pass is tried again.
    #[serde(default = "default_retries")]
    pub retries: u32,
    /// Price of a million tokens that it reads, in millionths of the currency that you count in.
    #[serde(default)]
    pub price_in: u64,
    /// Price of a million tokens that it writes, in millionths.
    #[serde(default)]
    pub price_out: u64,
    /// False: tools are described in words and called by `[TOOL:name:{json}]`, for models that cannot call them natively.
    #[serde(default = "yes")]
    pub native_tools: bool,
    /// False: the form of an answer is described in words alone, for endpoints that cannot be held to a JSON schema.
    #[serde(default = "yes")]
    pub json_schema: bool,
    /// False: answers come whole, for endpoints that cannot stream. Guards then hear them only once they are there.
    #[serde(default = "yes")]
    pub stream: bool,
}

fn default_answer() -> u32 {
    limits::MODEL_ANSWER_TOKENS
}

fn default_context() -> u32 {
    limits::MODEL_CONTEXT_TOKENS
}

fn default_timeout() -> u64 {
    limits::MODEL_TIMEOUT_MS
}

fn default_retries() -> u32 {
    limits::MODEL_RETRIES
}

fn yes() -> bool {
    true
}

/// A model as a council counts it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownMind {
    /// Its family; `None`: not known.
    pub family: Option<String>,
    /// Its substance: two models with the same one are one mind.
    pub mind: String,
}

/// Providers whose protocol is spoken.
pub const PROVIDERS: [&str; 6] = ["anthropic", "openai", "openai-responses", "gemini", "deepseek", "ollama"];

impl Model {
    /// A model with nothing but its provider and name said.
    #[must_use]
    pub fn of(provider: &str, model: &str) -> Self {
        let bare = serde_json::json!({"provider": provider, "model": model});
        serde_json::from_value(bare).expect("invariant: all other fields have defaults")
    }

    /// The model as a council counts it. Whatever `[models.NAME]` calls it, the same model of the same server is the same mind.
    #[must_use]
    pub fn as_mind(&self) -> KnownMind {
        self.as_mind_on(|_| false)
    }

    /// The same on a machine that knows hosts as its own, beside those that every machine has.
    #[must_use]
    pub fn as_mind_on(&self, is_own: impl Fn(&str) -> bool) -> KnownMind {
        let own = match self.provider.as_str() {
            "anthropic" => "https://api.anthropic.com",
            "gemini" => "https://generativelanguage.googleapis.com",
            "deepseek" => "https://api.deepseek.com",
            "ollama" => "http://127.0.0.1:11434",
            _ => "https://api.openai.com",
        };
        let server = server(self.base_url.as_deref().unwrap_or(own).trim(), is_own);
        // Ollama's names may leave `:latest` out.
        let model = self.model.trim().to_lowercase();
        let mind = format!("{} at {server}", model.strip_suffix(":latest").unwrap_or(&model));
        KnownMind { family: self.family.clone(), mind }
    }

    /// What an exchange costs: one call, its tokens, and their price rounded up.
    #[must_use]
    pub fn cost(&self, input: u64, output: u64) -> Cost {
        let price = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let micros = (price(input, self.price_in) + price(output, self.price_out)).div_ceil(1_000_000);
        Cost { turns: 1, tokens: input.saturating_add(output), micros: u64::try_from(micros).unwrap_or(u64::MAX) }
    }

    /// What cannot be: the field, and what is wrong.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if !PROVIDERS.contains(&self.provider.as_str()) {
            return Err(("provider", format!("is {:?}, not one of {}", self.provider, PROVIDERS.join(", "))));
        }
        if self.model.is_empty() {
            return Err(("model", "is empty".to_owned()));
        }
        if self.temperature.is_some_and(|t| !(0.0..=2.0).contains(&t)) {
            return Err(("temperature", "is not between 0 and 2".to_owned()));
        }
        let ranges = [
            ("max_tokens", u64::from(self.max_tokens), u64::from(limits::MODEL_CONTEXT_MAX_TOKENS)),
            ("context", u64::from(self.context), u64::from(limits::MODEL_CONTEXT_MAX_TOKENS)),
            ("timeout_ms", self.timeout_ms, limits::MODEL_TIMEOUT_MAX_MS),
        ];
        for (field, value, most) in ranges {
            if value == 0 || value > most {
                return Err((field, format!("is not between 1 and {most}")));
            }
        }
        if self.retries > limits::MODEL_RETRIES_MAX {
            return Err(("retries", format!("is above {}", limits::MODEL_RETRIES_MAX)));
        }
        Ok(())
    }
}

/// The server of an address, host and port. The parser is that of connections, so that each spelling of an address is read as it is connected to
/// (`127.1`, `0x7f.1`, a port with zeros before it). All own names and addresses of this machine are one.
fn server(base: &str, is_own: impl Fn(&str) -> bool) -> String {
    const OURS: [&str; 5] = ["localhost", "localhost4", "localhost6", "ip6-localhost", "ip6-loopback"];
    let whole = if base.contains("://") { base.to_owned() } else { format!("https://{base}") };
    let Ok(url) = Url::parse(&whole) else { return base.to_lowercase() };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
    let address = host.parse::<IpAddr>().map(|address| address.to_canonical());
    let is_here = match address {
        Ok(address) => address.is_loopback() || address.is_unspecified(),
        Err(_) => OURS.contains(&host.as_str()) || host.ends_with(".localhost"),
    };
    let is_here = is_here || is_own(&host);
    let host = match address {
        _ if is_here => "127.0.0.1".to_owned(),
        Ok(address) => address.to_string(),
        Err(_) => host,
    };
    url.port_or_known_default().map_or(host.clone(), |port| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_rounded_up_and_never_overflows() {
        let model = Model { price_in: 3_000_000, price_out: 15_000_000, ..Model::of("openai", "m") };
        assert_eq!(model.cost(1000, 10), Cost { turns: 1, tokens: 1010, micros: 3150 });
        assert_eq!(Model { price_in: 1, ..Model::of("openai", "m") }.cost(1, 0).micros, 1);
        assert_eq!(Model { price_in: u64::MAX, ..model }.cost(u64::MAX, 1).micros, u64::MAX);
    }

    #[test]
    fn one_model_of_one_server_is_one_mind_by_whatever_name() {
        let mind = |provider: &str, base: Option<&str>, model: &str| {
            Model { base_url: base.map(str::to_owned), ..Model::of(provider, model) }.as_mind().mind
        };
        let same = [
            ("openai", "http://127.0.0.1:11434/v1", "qwen3"),
            ("openai", "http://localhost:11434/v1/", "Qwen3"),
            ("openai-responses", "http://LOCALHOST:11434", "qwen3:latest"),
            ("ollama", "http://[::1]:11434", "qwen3 "),
            ("openai", "http://127.1:11434/v1", "qwen3"),
            ("openai", "http://0x7f.1:11434/v1", "qwen3"),
            ("openai", "http://2130706433:11434/v1", "qwen3"),
            ("openai", "http://127.0.0.1:011434/v1", "qwen3"),
            ("openai", "http://127.0.0.2:11434/v1", "qwen3"),
            ("openai", "http://0.0.0.0:11434/v1", "qwen3"),
            ("openai", "http://[::]:11434/v1", "qwen3"),
            ("openai", "http://[::ffff:127.0.0.1]:11434/v1", "qwen3"),
            ("openai", "http://[0:0:0:0:0:0:0:1]:11434/v1", "qwen3"),
            ("openai", "http://localhost.:11434/v1", "qwen3"),
            ("openai", "http://a.localhost:11434/v1", "qwen3"),
            ("openai", "http://ip6-localhost:11434/v1", "qwen3"),
            ("openai", "http://%31%32%37.0.0.1:11434/v1", "qwen3"),
        ];
        for (provider, base, model) in same {
            assert_eq!(mind(provider, Some(base), model), mind("ollama", None, "qwen3"), "{provider} {base} {model}");
        }
        assert_eq!(mind("openai", None, "m"), mind("openai", Some("https://api.openai.com:443/v1"), "m"));
        assert_ne!(mind("openai", None, "m"), mind("openai", None, "n"));
        let far = |base: &str| mind("openai", Some(base), "m");
        assert_eq!(far("https://H.example./v1"), far("https://h.example:0443/"));
        assert_eq!(far("http://[::ffff:10.0.0.7]/v1"), far("http://10.7:080/v1"));
        assert_ne!(far("http://10.0.0.7/v1"), far("http://10.0.0.8/v1"));
        let own = |base: &str| {
            let model = Model { base_url: Some(base.to_owned()), ..Model::of("openai", "m") };
            model.as_mind_on(|host| ["box", "10.0.0.7"].contains(&host)).mind
        };
        assert_eq!(own("http://Box.:1/v1"), far("http://127.0.0.1:1/v1"));
        assert_eq!((own("http://10.7:1/v1"), own("http://h:1")), (far("http://127.0.0.1:1/v1"), far("http://h:1")));
        assert_ne!(far("http://127.0.0.1:1/v1"), far("http://127.0.0.1:2/v1"));
        assert_ne!(mind("openai", None, "m"), mind("openai", Some("https://h.example/v1"), "m"));
    }

    #[test]
    fn what_cannot_be_is_named() {
        let bad = |change: fn(&mut Model)| {
            let mut model = Model::of("openai", "m");
            change(&mut model);
            model.check().unwrap_err().0
        };
        assert!(Model::of("ollama", "m").check().is_ok());
        assert_eq!(bad(|m| m.provider = "oracle".into()), "provider");
        assert_eq!(bad(|m| m.model.clear()), "model");
        assert_eq!(bad(|m| m.temperature = Some(f64::NAN)), "temperature");
        assert_eq!(bad(|m| m.context = 0), "context");
        assert_eq!(bad(|m| m.timeout_ms = u64::MAX), "timeout_ms");
        assert_eq!(bad(|m| m.retries = 1000), "retries");
    }
}
