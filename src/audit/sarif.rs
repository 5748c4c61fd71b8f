//! The report as SARIF 2.1.0, which forges and editors read.

use serde_json::{Value, json};

use super::{Finding, Level, Rule, Settled};

fn level_of(level: Level) -> &'static str {
    match level {
        Level::Ok => "note",
        Level::Warn => "warning",
        Level::Quarantine => "error",
    }
}

/// The document. `version` is that of the program.
pub fn document(findings: &[(Finding, Option<Settled>)], version: &str) -> Value {
    let rules: Vec<Value> = Rule::ALL
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id(),
                "shortDescription": {"text": rule.sentence()},
                "defaultConfiguration": {"level": level_of(rule.level())},
            })
        })
        .collect();
    let results: Vec<Value> = findings.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "git-brain audit", "version": version, "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result((finding, settled): &(Finding, Option<Settled>)) -> Value {
    let index = Rule::ALL.iter().position(|rule| *rule == finding.rule).unwrap_or_default();
    let short: String = finding.commit.chars().take(12).collect();
    let subject = if finding.path.is_empty() { format!("commit {short}") } else { finding.path.clone() };
    let mut location = json!({
        "logicalLocations": [{"name": finding.commit, "kind": "commit", "fullyQualifiedName": format!("commit/{}", finding.commit)}],
    });
    // A forge shows results at files alone: one of a commit is shown at the settings.
    let path = if finding.path.is_empty() { "brain.toml" } else { &finding.path };
    location["physicalLocation"] = json!({
        "artifactLocation": {"uri": uri(path)},
        "region": {"startLine": finding.line.max(1)},
    });
    let suppressions: Vec<Value> = settled
        .iter()
        .map(|settled| {
            let said = format!("{}, {}: {}", settled.by, settled.at, settled.why);
            json!({"kind": "external", "status": "accepted", "justification": said})
        })
        .collect();
    json!({
        "suppressions": suppressions,
        "ruleId": finding.rule.id(),
        "ruleIndex": index,
        "level": level_of(finding.level),
        "message": {"text": format!("{subject}: {} (commit {short})", finding.message)},
        "locations": [location],
        "partialFingerprints": {"brainAudit/v1": finding.id()},
        "properties": {"commit": finding.commit, "run": finding.run},
    })
}

/// A path as a relative reference of a URI.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(byte as char),
            other => uri += &format!("%{other:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_name_rule_place_and_level() {
        let findings = [
            (Finding::new(Rule::ForgedAuthor, "0123456789abcdef", "is by another"), None),
            (Finding::new(Rule::MetricDrift, "0123456789abcdef", "drifts").at("a b/ü.json", 3), None),
        ];
        let document = document(&findings, "1.0.0");
        let run = &document["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), Rule::ALL.len());
        let results = run["results"].as_array().unwrap();
        for (result, (finding, _)) in results.iter().zip(&findings) {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(run["tool"]["driver"]["rules"][index]["id"], finding.rule.id());
        }
        assert_eq!((&results[0]["level"], &results[1]["level"]), (&json!("error"), &json!("warning")));
        assert_eq!(results[1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%20b/%C3%BC.json");
    }
}
