"""A tool server that reads lines the way Python programs do. argv: record file, way of reading. Every line it read is
recorded as {"line": ...}; a line that is JSON is acted on as json.loads reads it (the last of equal keys wins), and each
tool it runs is recorded as {"ran": name}."""
import json
import sys

record_file, way = sys.argv[1:3]


def lines():
    if way == "universal":
        for line in sys.stdin:
            yield line.rstrip("\n")
    else:
        for raw in sys.stdin.buffer:
            yield from raw.decode("utf-8").splitlines()


def record(entry):
    with open(record_file, "a", encoding="ascii") as file:
        file.write(json.dumps(entry) + "\n")


def result_of(message):
    if message["method"] == "initialize":
        info = {"name": "reader", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    if message["method"] == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("allowed", "forbidden")]}
    record({"ran": message["params"]["name"]})
    return {"content": []}


sys.stdin.reconfigure(encoding="utf-8", newline=None)
for line in lines():
    record({"line": line})
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if isinstance(message, dict) and "id" in message and "method" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "server/discover":
            answer["error"] = {"code": -32601, "message": "Method not found"}
        else:
            answer["result"] = result_of(message)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
