"""A scripted model for coding agents, in the protocols of two providers (`/v1/messages`, `/v1/responses`): model.py LOG

It prints its port. Asked with a tool that recalls, it calls that once with the person's last prompt as the question, and then says what the tool told.
Where a client shows tools by their names alone, it loads that one first, as models do.
Each request is a line of LOG: the path, and the body."""
import http.server
import json
import re
import sys
import threading

LOG = open(sys.argv[1], "a", encoding="utf-8")
LOCK = threading.Lock()


def texts(content):
    """All texts of a message's content."""
    if isinstance(content, str):
        return [content]
    return [part.get("text", "") for part in content or [] if isinstance(part, dict)]


def of_messages(body):
    """The call that comes next, if one does, and what the last one of recall told, of a request of `/v1/messages`."""
    said, told, called = "", None, {}
    for message in body.get("messages", []):
        parts = message["content"] if isinstance(message["content"], list) else []
        for part in parts:
            if part.get("type") == "tool_use":
                called[part["id"]] = part["name"]
            if part.get("type") == "tool_result" and called.get(part["tool_use_id"], "").endswith("recall"):
                told = " ".join(texts(part.get("content")))
        if message["role"] == "user" and not any(part.get("type") == "tool_result" for part in parts):
            said = texts(message["content"])[-1]
    names = [tool.get("name", "") for tool in body.get("tools", [])]
    recall = next((name for name in names if name.endswith("recall")), None)
    if told is None and recall:
        return (recall, {"question": said}), told
    waiting = re.search(r"mcp__[\w-]*__recall", json.dumps(body))
    if told is None and waiting and "ToolSearch" in names and "ToolSearch" not in called.values():
        return ("ToolSearch", {"query": f"select:{waiting[0]}"}), told
    return None, told


def of_responses(body):
    """The same of `/v1/responses`. A tool may stand inside of a group of them; then the group is told, too."""
    said, told, recall = "", None, None
    for item in body.get("input", []):
        if item.get("type") == "function_call_output":
            output = item.get("output")
            told = output if isinstance(output, str) else " ".join(texts(output))
        if item.get("type") == "message" and item.get("role") == "user":
            said = texts(item.get("content"))[-1]
    for tool in body.get("tools", []):
        for inner in tool.get("tools", []) if tool.get("type") == "namespace" else [tool]:
            if inner.get("name", "").endswith("recall"):
                recall = (tool["name"] if inner is not tool else None, inner["name"])
    return said, recall, told


def answer(told):
    return f"The brain told me: {told[:600]}" if told else "Noted."


def messages(body):
    call, told = of_messages(body)
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "content": [], "stop_reason": None,
             "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1}}
    yield "message_start", {"message": start}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{len(body['messages'])}", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": answer(told)}
    yield "content_block_start", {"index": 0, "content_block": block}
    yield "content_block_delta", {"index": 0, "delta": delta}
    yield "content_block_stop", {"index": 0}
    reason = "tool_use" if block["type"] == "tool_use" else "end_turn"
    yield "message_delta", {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 20}}
    yield "message_stop", {}


def responses(body):
    said, recall, told = of_responses(body)
    yield "response.created", {"response": {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}}
    if recall and told is None:
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": recall[1], "arguments": json.dumps({"question": said})}
        if recall[0]:
            item["namespace"] = recall[0]
    else:
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": answer(told)}]}
    yield "response.output_item.added", {"output_index": 0, "item": item}
    yield "response.output_item.done", {"output_index": 0, "item": item}
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 30}
    yield "response.completed", {"response": {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}}


class Door(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, kind, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if "/models" in self.path:
            return self.reply(200, "application/json", json.dumps({"object": "list", "data": [], "models": []}))
        self.reply(404, "application/json", "{}")

    do_HEAD = do_GET

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        path = self.path.split("?")[0]
        with LOCK:
            LOG.write(json.dumps({"path": path, "body": body}) + "\n")
            LOG.flush()
        if path.endswith("/count_tokens"):
            return self.reply(200, "application/json", json.dumps({"input_tokens": 10}))
        says = {"/v1/messages": messages, "/v1/responses": responses}.get(path)
        if says is None:
            return self.reply(404, "application/json", "{}")
        events = list(says(body))
        if path == "/v1/messages" and not body.get("stream"):
            text = answer(of_messages(body)[1])
            whole = {**events[0][1]["message"], "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
            return self.reply(200, "application/json", json.dumps(whole))
        lines = [f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in events]
        self.reply(200, "text/event-stream", "".join(lines))


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door)
print(server.server_address[1], flush=True)
server.serve_forever()
