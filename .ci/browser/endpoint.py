"""A scripted endpoint of OpenAI's chat protocol on this machine: what a model says next is set by the test, and an answer can be held
back in the middle until the test lets it go."""

import collections
import http.server
import json
import threading

USED = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def says(text, gate=None):
    """Says a text; with a gate (an event), its second half only once that is set."""
    return {"text": text, "gate": gate}


def calls(name, **arguments):
    """Calls a tool."""
    return {"call": (name, arguments)}


DOWN = {"down": True}


class Endpoint:
    """Listens until the process ends."""

    def __init__(self):
        self.scripts = collections.defaultdict(collections.deque)
        self.asked = []
        endpoint = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                endpoint.asked.append(body)
                script = endpoint.scripts[body["model"]]
                manner = script.popleft() if script else DOWN
                try:
                    self.answer(manner, body.get("stream"))
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def answer(self, manner, streamed):
                if "down" in manner:
                    return self.whole(503, {"error": {"message": "no model here"}})
                message, finish = {"role": "assistant", "content": manner.get("text")}, "stop"
                if "call" in manner:
                    name, arguments = manner["call"]
                    function = {"name": name, "arguments": json.dumps(arguments)}
                    message["tool_calls"] = [{"index": 0, "id": "call-1", "type": "function", "function": function}]
                    finish = "tool_calls"
                if not streamed:
                    return self.whole(200, {"id": "x", "object": "chat.completion", "model": "scripted", "usage": USED,
                                            "choices": [{"index": 0, "message": message, "finish_reason": finish}]})
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                text = manner.get("text") or ""
                parts = [{"content": text[at:at + 7]} for at in range(0, len(text), 7)]
                for at, delta in enumerate([{"tool_calls": message["tool_calls"]}] if "call" in manner else parts):
                    if manner.get("gate") and at == len(parts) // 2:
                        manner["gate"].wait(60)
                    self.event({"choices": [{"index": 0, "delta": delta}]})
                self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": USED})
                self.chunk(b"data: [DONE]\n\n")
                self.chunk(b"")

            def event(self, value):
                self.chunk(f"data: {json.dumps(value)}\n\n".encode())

            def chunk(self, data):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()

            def whole(self, status, value):
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}/v1"

    def script(self, **scripts):
        """What each model says from now on; one that has nothing more to say is down."""
        self.scripts.clear()
        for model, manners in scripts.items():
            self.scripts[model].extend(manners)
