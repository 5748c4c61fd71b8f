//! Cutting a single-document network into its neurons, as its bytes come in: only the outermost structure is read here.
//!
//! Pure, and in constant memory: what is inside a neuron or a field is cut out by its place and left to the types.

use super::json::JsonError;

/// A part of the document, by its place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The name of the top-level field that it is, or `None` for an element of `neurons`.
    pub field: Option<String>,
    /// Where it starts, bytes.
    pub offset: u64,
    /// How long it is, bytes.
    pub length: u64,
    /// The line that it starts on, from 1.
    pub line: u64,
}

/// The field whose elements are cut one by one.
const ELEMENTS: &str = "neurons";
/// Longest name of a top-level field, bytes.
const NAME_BYTES: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    FirstName,
    NextName,
    Name,
    Colon,
    Value,
    AfterValue,
    FirstElement,
    NextElement,
    AfterElement,
    Inside,
    End,
}

/// A push parser: bytes in, pieces out.
#[derive(Debug)]
pub struct Cutter {
    what: String,
    state: State,
    offset: u64,
    line: u64,
    name: Vec<u8>,
    names: Vec<String>,
    /// Where the piece under way starts.
    start: u64,
    start_line: u64,
    depth: usize,
    in_string: bool,
    escaped: bool,
    in_elements: bool,
}

impl Cutter {
    /// A cutter at the start of a document that `what` names in errors.
    pub fn new(what: &str) -> Self {
        Self {
            what: what.to_owned(),
            state: State::Start,
            offset: 0,
            line: 1,
            name: Vec::new(),
            names: Vec::new(),
            start: 0,
            start_line: 1,
            depth: 0,
            in_string: false,
            escaped: false,
            in_elements: false,
        }
    }

    /// Where the piece under way starts, or where the cutter is: no byte before it is needed any more.
    pub fn needed_from(&self) -> u64 {
        if self.state == State::Inside { self.start } else { self.offset }
    }

    /// The line that the cutter is on, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Takes the next bytes of the document; complete pieces are added to `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Piece>) -> Result<(), JsonError> {
        let from = self.offset;
        let mut at = 0;
        while at < bytes.len() {
            if self.state == State::Inside {
                at = self.inside(bytes, at, from, out);
                self.offset = from + at as u64;
                continue;
            }
            let byte = bytes[at];
            if byte == b'\n' {
                self.line += 1;
            }
            let blank = self.state != State::Name && matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
            // The first byte of a value is looked at again from inside it.
            if !blank && !self.step(byte)? {
                self.begin(from + at as u64);
                continue;
            }
            at += 1;
            self.offset = from + at as u64;
        }
        Ok(())
    }

    /// Ends the document.
    pub fn finish(&self) -> Result<(), JsonError> {
        match self.state {
            State::End if self.names.iter().any(|n| n == ELEMENTS) => Ok(()),
            State::End => Err(self.fail("there is no field \"neurons\"")),
            _ => Err(self.fail("the document ends in the middle")),
        }
    }

    /// One byte of the outermost structure; false if it begins a piece.
    fn step(&mut self, byte: u8) -> Result<bool, JsonError> {
        self.state = match (self.state, byte) {
            (State::Start, b'{') => State::FirstName,
            (State::FirstName | State::AfterValue, b'}') => State::End,
            (State::FirstName | State::NextName, b'"') => {
                self.name.clear();
                State::Name
            }
            (State::Name, b'"') => {
                self.named()?;
                State::Colon
            }
            (State::Name, _) if self.name.len() < NAME_BYTES && byte != b'\\' && byte >= 0x20 => {
                self.name.push(byte);
                State::Name
            }
            (State::Name, _) => return Err(self.fail("an unknown field")),
            (State::Colon, b':') => State::Value,
            (State::Value, b'[') if self.name == ELEMENTS.as_bytes() => {
                self.in_elements = true;
                State::FirstElement
            }
            (State::Value, _) if self.name == ELEMENTS.as_bytes() => {
                return Err(self.fail("\"neurons\" is not a list"));
            }
            (State::FirstElement | State::AfterElement, b']') => {
                self.in_elements = false;
                State::AfterValue
            }
            (State::AfterElement, b',') => State::NextElement,
            (State::AfterValue, b',') => State::NextName,
            (State::Value | State::FirstElement | State::NextElement, b',' | b':' | b']' | b'}') => {
                return Err(self.unexpected(byte));
            }
            (State::Value | State::FirstElement | State::NextElement, _) => return Ok(false),
            _ => return Err(self.unexpected(byte)),
        };
        Ok(true)
    }

    fn named(&mut self) -> Result<(), JsonError> {
        let name = String::from_utf8_lossy(&self.name).into_owned();
        if self.names.contains(&name) {
            return Err(self.fail(format!("the key {name:?} stands here twice")));
        }
        // So that a hostile document cannot make the list of names long.
        if self.names.len() >= 16 {
            return Err(self.fail(format!("unknown field `{name}`")));
        }
        self.names.push(name);
        Ok(())
    }

    fn begin(&mut self, offset: u64) {
        (self.start, self.start_line) = (offset, self.line);
        (self.depth, self.in_string, self.escaped) = (0, false, false);
        self.state = State::Inside;
    }

    /// Goes on inside a piece from `at`, and returns where it stopped: behind the piece, or at the end of the bytes.
    fn inside(&mut self, bytes: &[u8], mut at: usize, from: u64, out: &mut Vec<Piece>) -> usize {
        while at < bytes.len() {
            let byte = bytes[at];
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                self.line += u64::from(byte == b'\n');
                at += 1;
                if !self.in_string && self.depth == 0 {
                    self.end(from + at as u64, out);
                    return at;
                }
                continue;
            }
            match byte {
                b'"' if self.depth > 0 || from + at as u64 == self.start => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 1 => self.depth -= 1,
                b'}' | b']' if self.depth == 1 => {
                    self.end(from + at as u64 + 1, out);
                    return at + 1;
                }
                // A number or a word ends before what cannot belong to it.
                b'}' | b']' | b',' | b':' | b'"' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => {
                    self.end(from + at as u64, out);
                    return at;
                }
                b'\n' => self.line += 1,
                _ => {}
            }
            at += 1;
        }
        at
    }

    fn end(&mut self, end: u64, out: &mut Vec<Piece>) {
        let field = (!self.in_elements).then(|| String::from_utf8_lossy(&self.name).into_owned());
        out.push(Piece { field, offset: self.start, length: end - self.start, line: self.start_line });
        self.state = if self.in_elements { State::AfterElement } else { State::AfterValue };
    }

    fn unexpected(&self, byte: u8) -> JsonError {
        let shown =
            if byte.is_ascii_graphic() { format!("{:?}", char::from(byte)) } else { format!("byte {byte:#04x}") };
        self.fail(format!("{shown} is not expected here"))
    }

    fn fail(&self, message: impl Into<String>) -> JsonError {
        JsonError::at(&self.what, usize::try_from(self.line).unwrap_or(usize::MAX), "", message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of a text, fed in steps of `step` bytes: (field, text, line).
    fn cut(text: &str, step: usize) -> Result<Vec<(Option<String>, String, u64)>, JsonError> {
        let mut cutter = Cutter::new("x");
        let mut out = Vec::new();
        for chunk in text.as_bytes().chunks(step) {
            cutter.feed(chunk, &mut out)?;
        }
        cutter.finish()?;
        let slice = |p: &Piece| text[p.offset as usize..(p.offset + p.length) as usize].to_owned();
        Ok(out.iter().map(|p| (p.field.clone(), slice(p), p.line)).collect())
    }

    #[test]
    fn a_document_is_cut_wherever_its_bytes_are_split() {
        let text = "{\n \"$schema\": \"a\\\"]}\" , \"metadata\": {\"x\": [1, {\"y\": \"}\"}]},\n\n \"neurons\": [\n  {\"id\":\n \"a\\\\\"}, 12,[\"]\"]\n, null ], \"n\":-1.5e3}\n";
        let expected = [
            (Some("$schema"), "\"a\\\"]}\"", 2),
            (Some("metadata"), "{\"x\": [1, {\"y\": \"}\"}]}", 2),
            (None, "{\"id\":\n \"a\\\\\"}", 5),
            (None, "12", 6),
            (None, "[\"]\"]", 6),
            (None, "null", 7),
            (Some("n"), "-1.5e3", 7),
        ];
        for step in [1, 2, 3, 7, 1000] {
            let found = cut(text, step).unwrap();
            let found: Vec<_> = found.iter().map(|(f, t, l)| (f.as_deref(), t.as_str(), *l)).collect();
            assert_eq!(found, expected, "in steps of {step}");
        }
        assert_eq!(cut("{\"neurons\":[]}", 1).unwrap(), []);
    }

    #[test]
    fn what_is_no_document_is_refused_with_its_line() {
        for (text, line, part) in [
            ("", 1, "middle"),
            ("\n[]", 2, "'['"),
            ("{}", 1, "no field \"neurons\""),
            ("{\"neurons\": [\n{},]}", 2, "']'"),
            ("{\"neurons\": [\n{} {}]}", 2, "'{'"),
            ("{\"neurons\": {}}", 1, "not a list"),
            ("{\"neurons\": [],\n \"neurons\": []}", 2, "twice"),
            ("{\"neurons\": []}\n\nx", 3, "'x'"),
            ("{\"neurons\": [],}", 1, "'}'"),
            ("{\"neurons\": [{\"a\": 1}\n", 2, "middle"),
            ("{\"neurons\": [\"abc", 1, "middle"),
            ("{\"a\\u0062\": 1}", 1, "unknown"),
            ("{\"a\" 1}", 1, "'1'"),
            ("\u{feff}{}", 1, "0xef"),
        ] {
            let error = cut(text, 3).unwrap_err();
            assert_eq!(error.line, line, "{text:?}: {error}");
            assert!(error.to_string().contains(part), "{text:?}: {error}");
        }
    }
}
