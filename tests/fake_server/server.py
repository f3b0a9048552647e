#!/usr/bin/env python3
"""A language model's server that answers nothing of its own: OpenAI's, Anthropic's and Gemini's interfaces, good and bad days.

    server.py [--port N] [--key KEY] [--tls PEM] [--answer FILE ...]

Prints its address as the first line on stdout and ends when stdin closes, so that it never outlives a test. The model
name chooses what happens (SCENARIOS below); `NAME-once` fails the first time and then answers. The reply is each
--answer file in turn, else a fixed line; a prompt "echo: TEXT" is answered with TEXT.

GET /_requests lists what came in (path, body, header names; never a key), POST /_reset forgets it.
"""

import argparse
import email.utils
import http.server
import json
import ssl
import sys
import threading
import time

DEFAULT_KEY = "fake-key-0123456789abcdef"
FIXED_ANSWER = "Hello from the fake server: naïve café, line one\nline two"

# What a model name does, apart from "ok". `-once`: only at the first request for that name.
SCENARIOS = (
    "ok",         # answers
    "limit",      # 429, Retry-After: 1
    "limit-date", # 429, Retry-After: an HTTP date two seconds ahead
    "limit-long", # 429, Retry-After: two days
    "no-credit",  # 429 that waiting does not cure
    "broken",     # 500
    "overloaded", # 529
    "bad",        # 400
    "cut",        # 200; half of the reply, then the connection closes
    "unended",    # 200; the stream ends cleanly without its end marker
    "malformed",  # 200; no JSON
    "slow",       # 200; a few bytes, then silence for 30 s
    "silent",     # nothing at all for 30 s
    "trickle",    # answers, one byte of the stream at a time
    "length",     # stopped by the token limit
    "refuse",     # refused by the provider's filter
    "empty",      # a complete reply without text
    "echo-key",   # 400 whose text repeats the key
    "inside",     # 200 whose stream holds an error event
    "redirect",   # 307 to another address
    "huge",       # 200; text without end
)


class Script:
    """What the server has seen and what it will say next. Shared by the connections' threads."""

    def __init__(self, key: str, answers: list[str]):
        self.key, self.answers = key, answers
        self.lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        self.requests: list[dict] = []
        self.seen: dict[str, int] = {}
        self.answered = 0

    def scenario(self, model: str) -> str | None:
        """The scenario of this request, or None for a model that does not exist."""
        with self.lock:
            self.seen[model] = self.seen.get(model, 0) + 1
            name = model
            if model.endswith("-once"):
                name = model.removesuffix("-once") if self.seen[model] == 1 else "ok"
        return name if name in SCENARIOS else None

    def answer(self, prompt: str) -> str:
        if prompt.startswith("echo: "):
            return prompt.removeprefix("echo: ")
        with self.lock:
            if not self.answers:
                return FIXED_ANSWER
            text = self.answers[min(self.answered, len(self.answers) - 1)]
            self.answered += 1
            return text


# --- the three dialects: how each reads a request and writes a reply ---------------------------------------------------


def pieces(text: str) -> list[str]:
    return [text[i : i + 7] for i in range(0, len(text), 7)]


class OpenAi:
    reasons = {"stop": "stop", "length": "length", "refuse": "content_filter"}

    @staticmethod
    def prompt(body: dict) -> str:
        return body["messages"][-1]["content"]

    @staticmethod
    def usage(text: str) -> dict:
        return {"prompt_tokens": 11, "completion_tokens": len(pieces(text)), "total_tokens": 11 + len(pieces(text)),
                "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 2}}

    def whole(self, model: str, text: str, reason: str) -> dict:
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": self.reasons[reason]}
        return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model + "-2026",
                "choices": [choice], "usage": self.usage(text)}

    def events(self, model: str, text: str, reason: str) -> list[str]:
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model + "-2026"}

        def chunk(delta: dict, why: str | None = None) -> str:
            return "data: " + json.dumps(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": why}]})

        return [chunk({"role": "assistant", "content": ""}), *(chunk({"content": p}) for p in pieces(text)),
                chunk({}, self.reasons[reason]), "data: " + json.dumps(head | {"choices": [], "usage": self.usage(text)}),
                "data: [DONE]"]

    def error(self, status: int, message: str, kind: str) -> dict:
        return {"error": {"message": message, "type": kind, "code": kind}}


class Anthropic:
    reasons = {"stop": "end_turn", "length": "max_tokens", "refuse": "refusal"}

    @staticmethod
    def prompt(body: dict) -> str:
        return body["messages"][-1]["content"]

    @staticmethod
    def usage(text: str) -> dict:
        return {"input_tokens": 7, "cache_read_input_tokens": 4, "output_tokens": len(pieces(text))}

    def whole(self, model: str, text: str, reason: str) -> dict:
        return {"id": "msg_1", "type": "message", "role": "assistant", "model": model + "-2026",
                "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}],
                "stop_reason": self.reasons[reason], "stop_sequence": None, "usage": self.usage(text)}

    def events(self, model: str, text: str, reason: str) -> list[str]:
        def event(kind: str, **fields: object) -> str:
            return f"event: {kind}\ndata: " + json.dumps({"type": kind} | fields)

        start = self.whole(model, "", reason) | {"content": [], "stop_reason": None}
        start["usage"] = {"input_tokens": 7, "cache_read_input_tokens": 4, "output_tokens": 1}
        deltas = [event("content_block_delta", index=1, delta={"type": "text_delta", "text": p}) for p in pieces(text)]
        return [event("message_start", message=start), event("ping"),
                event("content_block_start", index=0, content_block={"type": "thinking", "thinking": ""}),
                event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "hm"}),
                event("content_block_start", index=1, content_block={"type": "text", "text": ""}), *deltas,
                event("content_block_stop", index=1),
                event("message_delta", delta={"stop_reason": self.reasons[reason]},
                      usage={"output_tokens": len(pieces(text))}),
                event("message_stop")]

    def error(self, status: int, message: str, kind: str) -> dict:
        return {"type": "error", "error": {"type": kind, "message": message}}


class Gemini:
    reasons = {"stop": "STOP", "length": "MAX_TOKENS", "refuse": "SAFETY"}

    @staticmethod
    def prompt(body: dict) -> str:
        return body["contents"][-1]["parts"][0]["text"]

    @staticmethod
    def usage(text: str) -> dict:
        return {"promptTokenCount": 11, "candidatesTokenCount": len(pieces(text)), "thoughtsTokenCount": 3,
                "cachedContentTokenCount": 4}

    def reply(self, model: str, text: str, reason: str | None) -> dict:
        parts = [{"text": "hm", "thought": True}, {"text": text}]
        candidate = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if reason:
            candidate["finishReason"] = self.reasons[reason]
        return {"candidates": [candidate], "modelVersion": model + "-2026", "responseId": "resp-1"}

    def whole(self, model: str, text: str, reason: str) -> dict:
        return self.reply(model, text, reason) | {"usageMetadata": self.usage(text)}

    def events(self, model: str, text: str, reason: str) -> list[str]:
        parts = pieces(text) or [""]
        last = self.reply(model, parts[-1], reason) | {"usageMetadata": self.usage(text)}
        return ["data: " + json.dumps(e) for e in [*(self.reply(model, p, None) for p in parts[:-1]), last]]

    def error(self, status: int, message: str, kind: str) -> dict:
        return {"error": {"code": status, "message": message, "status": kind}}


Dialect = OpenAi | Anthropic | Gemini


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script

    def log_message(self, *_: object) -> None:
        pass

    def key(self) -> str:
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
        return bearer or self.headers.get("x-api-key", "") or self.headers.get("x-goog-api-key", "")

    def send_json(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        self.send_bytes(status, json.dumps(value).encode(), headers)

    def send_bytes(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("x-request-id", f"req-{len(self.script.requests)}")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def dialect(self) -> Dialect:
        if "/v1beta/" in self.path:
            return Gemini()
        return Anthropic() if self.path.endswith("/messages") or "anthropic-version" in self.headers else OpenAi()

    def do_GET(self) -> None:
        if self.path == "/_requests":
            self.send_json(200, self.script.requests)
        elif self.key() != self.script.key:
            self.send_json(401, self.dialect().error(401, "Incorrect API key provided", "authentication_error"))
        elif self.path.endswith("/models"):
            self.send_json(200, {"object": "list", "data": [{"id": name} for name in SCENARIOS]})
        elif self.path.rsplit("/", 1)[-1].removesuffix("-once") in SCENARIOS and "/models/" in self.path:
            self.send_json(200, {"id": self.path.rsplit("/", 1)[-1]})
        else:
            self.send_json(404, self.dialect().error(404, "not found", "not_found_error"))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/_reset":
            self.script.reset()
            self.send_json(200, {})
            return
        try:
            self.respond(json.loads(raw))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client hung up, as some tests want it to

    def respond(self, body: dict) -> None:
        dialect = self.dialect()
        self.script.requests.append(
            {"path": self.path, "body": body, "headers": sorted(name.lower() for name in self.headers.keys())})
        if isinstance(dialect, Gemini):
            model = self.path.split("/models/", 1)[-1].split(":")[0]
            stream = ":streamGenerateContent" in self.path
        else:
            model, stream = body.get("model", ""), bool(body.get("stream"))
        scenario = self.script.scenario(model)
        if scenario == "echo-key":
            self.send_json(400, dialect.error(400, f"bad request, your key is {self.key()} ({self.path})", "bad"))
        elif self.key() != self.script.key:
            status = 400 if isinstance(dialect, Gemini) else 401
            self.send_json(status, dialect.error(status, f"API key not valid: {self.key()}", "authentication_error"))
        elif scenario is None:
            self.send_json(404, dialect.error(404, f"The model `{model}` does not exist", "not_found_error"))
        elif not self.fail(scenario, dialect):
            text = self.script.answer(dialect.prompt(body))
            reason = {"length": "length", "refuse": "refuse"}.get(scenario, "stop")
            text = "" if scenario == "empty" else text
            if stream:
                self.send_stream(scenario, dialect.events(model, text, reason), dialect)
            else:
                self.send_whole(scenario, dialect.whole(model, text, reason))

    def fail(self, scenario: str, dialect: Dialect) -> bool:
        """Sends what a scenario sends before any reply; False if it sends none."""
        statuses = {"limit": (429, "rate_limit_error", {"Retry-After": "1"}),
                    "limit-date": (429, "rate_limit_error", {"Retry-After": email.utils.formatdate(time.time() + 2, usegmt=True)}),
                    "limit-long": (429, "rate_limit_error", {"Retry-After": str(2 * 86400)}),
                    "no-credit": (429, "insufficient_quota", {}),
                    "broken": (500, "server_error", {}),
                    "overloaded": (529, "overloaded_error", {}),
                    "bad": (400, "invalid_request_error", {}),
                    "redirect": (307, "moved", {"Location": "http://127.0.0.1:9/elsewhere"})}
        if scenario in statuses:
            status, kind, headers = statuses[scenario]
            self.send_json(status, dialect.error(status, f"fake {kind}", kind), headers)
        elif scenario == "malformed":
            self.send_bytes(200, b'{"choices": [{"mess')
        elif scenario == "silent":
            time.sleep(30)
            self.close_connection = True
        else:
            return False
        return True

    def send_whole(self, scenario: str, reply: dict) -> None:
        body = json.dumps(reply).encode()
        if scenario not in ("cut", "slow"):
            self.send_bytes(200, body)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2])
        self.wfile.flush()
        time.sleep(30 if scenario == "slow" else 0)
        self.close_connection = True

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def send_stream(self, scenario: str, events: list[str], dialect: Dialect) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("x-request-id", f"req-{len(self.script.requests)}")
        self.end_headers()
        if scenario == "inside":
            error = json.dumps(dialect.error(500, "fake failure inside the stream", "server_error"))
            events = [*events[:2], "data: " + error]
        if scenario in ("cut", "unended", "slow"):
            events = events[: len(events) // 2]
        if scenario == "huge":
            events = events[:1] + [": " + "x" * 65536] * 64 + events[1:]
        # CRLF, a comment, and cuts in the middle of events: all that a reader must bear.
        stream = ": keep-alive\r\n\r\n" + "".join(event.replace("\n", "\r\n") + "\r\n\r\n" for event in events)
        data = stream.encode()
        step = 1 if scenario == "trickle" else 37 if len(data) < 20000 else 4001
        for i in range(0, len(data), step):
            self.chunk(data[i : i + step])
        if scenario == "slow":
            time.sleep(30)
        if scenario in ("cut", "slow"):
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--key", default=DEFAULT_KEY)
    parser.add_argument("--answer", action="append", default=[], metavar="FILE", help="replies, in turn; the last repeats")
    parser.add_argument("--tls", metavar="PEM", help="serve https with this certificate and key")
    options = parser.parse_args()
    answers = [open(path, encoding="utf-8").read() for path in options.answer]
    Handler.script = Script(options.key, answers)
    server = Server(("127.0.0.1", options.port), Handler)
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(f"{'https' if options.tls else 'http'}://127.0.0.1:{server.server_address[1]}", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
