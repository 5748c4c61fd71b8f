//! Embeddings from an endpoint of OpenAI's form: `POST {base_url}/embeddings` with `{model, input: [texts]}`.

use std::time::{Duration, Instant};

use backon::{ExponentialBuilder, Retryable};
use reqwest::header::{AUTHORIZATION, HeaderValue};
use serde::{Deserialize, Serialize};

use super::{Endpoint, LlmError, reason};
use crate::limits;

/// First and longest pause between two tries, unless the endpoint asks for another one.
const PAUSE_MS: (u64, u64) = (100, 2_000);

/// Asks one endpoint for vectors. Blocks, and must not be called inside an asynchronous task.
pub struct Embedder {
    endpoint: Endpoint,
    client: reqwest::Client,
    /// Taken when it is dropped.
    runtime: Option<tokio::runtime::Runtime>,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Embedder {
    /// Ready to ask; nothing is sent yet.
    ///
    /// # Errors
    /// The machine has no certificates to trust, or no threads.
    pub fn new(endpoint: Endpoint) -> Result<Self, LlmError> {
        let fail = |message: String| LlmError::Unreachable { place: endpoint.place().to_owned(), message };
        let client = super::client::client(endpoint.url()).map_err(fail)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| fail(e.to_string()))?;
        Ok(Self { endpoint, client, runtime: Some(runtime) })
    }

    /// A vector for each text, in their order, all of one length. Tries again what may pass, as long as there is time.
    ///
    /// # Errors
    /// See [`LlmError`]. Ends within `within`, whatever the endpoint does.
    pub fn embed(&self, texts: &[&str], within: Duration) -> Result<Vec<Vec<f32>>, LlmError> {
        let runtime = self.runtime.as_ref().expect("invariant: taken only when dropped");
        let end = Instant::now() + within;
        let backoff = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(PAUSE_MS.0))
            .with_max_delay(Duration::from_millis(PAUSE_MS.1))
            .with_max_times(limits::EMBEDDING_RETRIES)
            .with_jitter();
        let call = || self.call(texts);
        let tries = call.retry(backoff).sleep(tokio::time::sleep).when(LlmError::may_pass).adjust(|error, pause| {
            // What ends after the deadline anyway need not be waited for.
            pause.map(|pause| error.pause().unwrap_or(pause)).filter(|pause| Instant::now() + *pause < end)
        });
        let ended = runtime.block_on(async { tokio::time::timeout(within, tries).await });
        let late = |_| LlmError::Timeout { place: self.place(), timeout_ms: within.as_millis() };
        ended.map_err(late)?
    }

    fn place(&self) -> String {
        self.endpoint.place().to_owned()
    }

    async fn call(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, LlmError> {
        let unreachable = |e: reqwest::Error| LlmError::Unreachable { place: self.place(), message: reason(&e) };
        let asked = serde_json::to_vec(&Request { model: self.endpoint.model(), input: texts });
        let mut request = self
            .client
            .post(self.endpoint.url().clone())
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .body(asked.expect("invariant: texts are JSON"));
        if let Some(key) = self.endpoint.key() {
            let value = HeaderValue::from_str(&format!("Bearer {key}"));
            let mut value = value.map_err(|_| LlmError::Unreachable {
                place: self.place(),
                message: "its key has characters that no key has".to_owned(),
            })?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        if !status.is_success() {
            return Err(LlmError::of_status(&self.place(), status, response.headers()));
        }
        let large = || LlmError::Large { place: self.place(), max: limits::EMBEDDINGS_BYTES };
        if response.content_length().is_some_and(|length| length > limits::EMBEDDINGS_BYTES as u64) {
            return Err(large());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > limits::EMBEDDINGS_BYTES {
                return Err(large());
            }
            body.extend_from_slice(&chunk);
        }
        vectors(&body, texts.len()).map_err(|message| LlmError::Shape { place: self.place(), message })
    }
}

impl Drop for Embedder {
    fn drop(&mut self) {
        // A name that is still being looked up must not hold back the answer.
        self.runtime.take().into_iter().for_each(tokio::runtime::Runtime::shutdown_background);
    }
}

/// The vectors of an answer to so many texts, in the order of the texts.
fn vectors(body: &[u8], texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: Answer =
        serde_json::from_slice(body).map_err(|e| format!("line {}, column {}", e.line(), e.column()))?;
    if answer.data.len() != texts {
        return Err(format!("{} vectors for {texts} texts", answer.data.len()));
    }
    let mut placed: Vec<Option<Vec<f32>>> = vec![None; texts];
    for (at, one) in answer.data.into_iter().enumerate() {
        let index = one.index.unwrap_or(at);
        let place = placed.get_mut(index).filter(|place| place.is_none());
        *place.ok_or_else(|| format!("index {index} stands twice or is out of range"))? = Some(one.embedding);
    }
    let vectors: Vec<Vec<f32>> = placed.into_iter().flatten().collect();
    let length = vectors.first().map_or(0, Vec::len);
    if length == 0 || length > limits::EMBEDDING_DIMENSIONS || vectors.iter().any(|vector| vector.len() != length) {
        return Err("the vectors have no length, or not one length".to_owned());
    }
    let usable = |vector: &Vec<f32>| vector.iter().all(|x| x.is_finite()) && vector.iter().any(|x| *x != 0.0);
    if !vectors.iter().all(usable) {
        return Err("a vector is zero or not finite".to_owned());
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let body =
            br#"{"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0.5], "object": "x"}]}"#;
        assert_eq!(vectors(body, 2).unwrap(), [vec![1.0, 0.5], vec![0.0, 1.0]]);
        assert_eq!(vectors(br#"{"data": [{"embedding": [1]}, {"embedding": [2]}]}"#, 2).unwrap(), [[1.0], [2.0]]);
    }

    #[test]
    fn what_is_no_list_of_vectors_is_refused() {
        for (body, part) in [
            (&b"<html>"[..], "line 1"),
            (b"", "line 1"),
            (br#"{"error": {"message": "no"}}"#, "line 1"),
            (br#"{"data": [{"index": 0, "embedding": [1]}]}"#, "1 vectors for 2 texts"),
            (br#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#, "index 0"),
            (br#"{"data": [{"index": 0, "embedding": [1]}, {"index": 7, "embedding": [1]}]}"#, "index 7"),
            (br#"{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}"#, "length"),
            (br#"{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}"#, "length"),
            (br#"{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [0]}]}"#, "zero"),
            (br#"{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1e99]}]}"#, "line 1"),
            (br#"{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": "AAAA"}]}"#, "line 1"),
        ] {
            let error = vectors(body, 2).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
