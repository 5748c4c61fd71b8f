//! `GET /changes`: what happens to the brain, as it happens, whichever command or machine does it.
//!
//! Refs are looked at a few times a second, and a difference becomes events. A page that was away learns where the brain stands now.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::Shared;
use super::answer::{Failure, on_a_thread};
use crate::brain::{BrainError, Pulse, Serving};
use crate::limits;

/// One who watches.
struct Watcher {
    shared: Shared,
    ticks: Interval,
    last: Option<Pulse>,
    /// Events that were not sent yet.
    due: VecDeque<Event>,
    _permit: OwnedSemaphorePermit,
}

/// `GET /changes`.
pub(super) async fn changes(State(shared): State<Shared>) -> Result<Response, Failure> {
    let Ok(permit) = shared.watchers.clone().try_acquire_owned() else {
        let why = format!("{} pages watch already", limits::HTTP_WATCHERS);
        return Err(Failure::of(StatusCode::TOO_MANY_REQUESTS, why).hinting("close one of them"));
    };
    let mut ticks = interval(Duration::from_millis(limits::HTTP_PULSE_MS));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let watcher = Watcher { shared, ticks, last: None, due: VecDeque::new(), _permit: permit };
    let events = stream::unfold(watcher, |mut watcher| async {
        let event = watcher.next().await?;
        Some((Ok::<_, Infallible>(event), watcher))
    });
    let alive = KeepAlive::new().interval(Duration::from_millis(limits::HTTP_ALIVE_MS));
    Ok(Sse::new(events).keep_alive(alive).into_response())
}

impl Watcher {
    /// The next event; none once the server is told to leave.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.due.pop_front() {
                return Some(event);
            }
            tokio::select! {
                _ = self.shared.left.wait_for(|left| *left) => return None,
                _ = self.ticks.tick() => {}
            }
            let (serving, last) = (self.shared.serving.clone(), self.last.clone());
            // What cannot be read now, such as a ref that moves, is read at the next look.
            if let Ok((pulse, events)) = on_a_thread(move || looked(&serving, last.as_ref())).await {
                self.last = Some(pulse);
                self.due.extend(events.iter().map(event));
            }
        }
    }
}

/// Where the brain stands, and what differs from before.
fn looked(serving: &Serving, last: Option<&Pulse>) -> Result<(Pulse, Vec<Value>), BrainError> {
    let brain = serving.brain()?;
    let pulse = brain.pulse()?;
    let mut events = Vec::new();
    let named = |name: &str, mut data: Value| {
        data["event"] = name.into();
        data
    };
    let state = |name: &str| named(name, json!(pulse));
    let Some(last) = last else { return Ok((pulse.clone(), vec![state("stands")])) };
    if last.wake != pulse.wake {
        events.push(named("moved", json!(brain.moved(&last.wake, &pulse.wake)?)));
    }
    if last.main != pulse.main {
        events.push(state("slept"));
    }
    if last.branches != pulse.branches {
        events.push(state("waiting"));
    }
    Ok((pulse, events))
}

fn event(data: &Value) -> Event {
    Event::default().event(data["event"].as_str().unwrap_or_default()).data(data.to_string())
}
