"""lsp.py: talks to weft-lsp-server as an editor does, and checks what it answers."""
import json
import subprocess


class Server:
    def __init__(self):
        self.process = subprocess.Popen(["weft-lsp-server", "--log=error"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.requests = 0
        self.versions = {}

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length > 0, "the server said no more"
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, **params):
        """The result of a request. Nothing else may come before it."""
        self.requests += 1
        self.send(id=self.requests, method=method, params=params)
        answer = self.receive()
        assert answer.get("id") == self.requests, answer
        assert "error" not in answer, answer
        return answer["result"]

    def show(self, uri, text):
        """Opens or changes a document; its problems as (line, column, message)."""
        document = {"uri": uri, "version": self.versions.get(uri, 0)}
        if uri not in self.versions:
            self.send(method="textDocument/didOpen", params={"textDocument": {**document, "languageId": "mlir", "text": text}})
        else:
            self.send(method="textDocument/didChange", params={"textDocument": document, "contentChanges": [{"text": text}]})
        self.versions[uri] = document["version"] + 1
        answer = self.receive()
        assert answer["method"] == "textDocument/publishDiagnostics" and answer["params"]["uri"] == uri, answer
        starts = [(problem["range"]["start"], problem["message"]) for problem in answer["params"]["diagnostics"]]
        return [(start["line"], start["character"], message) for start, message in starts]

    def at(self, method, uri, text, place):
        """Asks about the first character of `place` in the text."""
        before = text[:text.index(place)]
        position = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
        return self.ask(method, textDocument={"uri": uri}, position=position)

    def hover(self, uri, text, place):
        result = self.at("textDocument/hover", uri, text, place)
        return result["contents"]["value"] if result else ""


def line_of(text, place):
    return text[:text.index(place)].count("\n")


def check(server, name, text, hovers, problems):
    """Every hover is known, and the problems are those, by (text of the place, part of the message)."""
    uri = f"file:///{name}.mlir"
    found = server.show(uri, text)
    expected = sorted((line_of(text, place), message) for place, message in problems)
    assert len(found) == len(expected), (name, found)
    for (line, column, message), (expected_line, part) in zip(sorted(found), expected):
        assert line == expected_line and part in message, (name, found, expected)
    for place, part in hovers:
        said = server.hover(uri, text, place)
        assert part in said, (name, place, said)
    return uri


GOOD = """func.func @good(%x: tensor<4xf32>) -> tensor<4xf32> {
  %kept = weft.tanh %x : tensor<4xf32>
  return %kept : tensor<4xf32>
}
"""


def function(name, *lines):
    return f"func.func @{name}(%a: tensor<4xf32>) -> tensor<4xf32> {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def test_name(server):
    answer = server.ask("initialize", processId=None, rootUri=None, capabilities={})
    assert answer["serverInfo"]["name"] == "weft-lsp-server", answer["serverInfo"]
    assert answer["serverInfo"]["version"].count(".") == 2, answer["serverInfo"]
    assert answer["capabilities"]["hoverProvider"], answer
    server.send(method="initialized", params={})


def test_errors(server):
    ret = "return %b : tensor<4xf32>"
    good = "%b = weft.exp %a : tensor<4xf32>"
    hovers = [("weft.tanh", "weft.tanh"), ("%kept = ", "weft.tanh"), ("func.func @good", "func.func")]
    check(server, "none", function("f", good, ret) + GOOD, hovers + [("weft.exp", "weft.exp")], [])
    # An operation that does not exist; what uses its result is still known, since its type is written.
    check(server, "unknown", function("f", "%b = weft.expp %a : tensor<4xf32>", "%c = weft.sqrt %b : tensor<4xf32>", ret) + GOOD,
          hovers + [("weft.sqrt", "weft.sqrt")], [("weft.expp", "unknown")])
    # One that is cut short: its type is not known, so its use goes with it.
    check(server, "short", function("f", "%d = weft.sqrt %a : tensor<4xf32>", "%b = weft.exp %a", ret) + GOOD,
          hovers + [("weft.sqrt", "weft.sqrt")], [("%b = weft.exp", "expected ':'")])
    # A value that is not there.
    check(server, "undeclared", function("f", "%b = weft.exp %q : tensor<4xf32>", ret) + GOOD, hovers, [("%q", "undeclared")])
    # Two errors in two functions are both told.
    check(server, "two", function("f", "%b = weft.expp %a : tensor<4xf32>", ret) + GOOD + function("g", "%b = weft.expq %a : tensor<4xf32>", ret),
          hovers, [("weft.expp", "unknown"), ("weft.expq", "unknown")])
    # What parses but is not valid, with a location that is a name.
    check(server, "invalid", 'weft.weight @w : tensor<5xf32> = #weft.external<"w", 0, 20>\n'
          + function("f", "%w = weft.load @v : tensor<5xf32> loc(\"w\")", good, ret) + GOOD,
          hovers + [("weft.exp", "weft.exp"), ("weft.weight", "weft.weight")], [("weft.load", "")])
    # A signature.
    check(server, "signature", "func.func @f(%x: tensor<4xf32) {\n  return\n}\n" + GOOD, hovers, [("func.func @f", "")])
    # A sharding that names no axis of its mesh.
    check(server, "axis", 'dist.mesh @mesh <["x"=2]>\n'
          + function("f", '%b = weft.exp %a {dist.sharding = #dist.sharding<@mesh, [{"y"}]>} : tensor<4xf32>', ret) + GOOD,
          hovers + [("dist.mesh", "dist.mesh")], [("weft.exp", "expected an axis of mesh @mesh, got: y")])


def test_shapes(server):
    """Whatever is wrong with the shape of a part of the file, the other part is known."""
    mistake, ret = "%b = weft.expp %a : tensor<4xf32>", "return %b : tensor<4xf32>"
    hovers = [("weft.tanh", "weft.tanh")]
    nested = "module {\n" + "".join(f"  {line}\n" for line in (function("f", mistake, ret) + GOOD).splitlines()) + "}\n"
    check(server, "nested", nested, hovers, [("weft.expp", "unknown")])
    check(server, "flat", function("f", mistake, ret).replace("\n  ", "\n") + GOOD, hovers, [("weft.expp", "unknown")])
    check(server, "unreturned", function("f", mistake.replace("expp", "exp")) + GOOD, hovers, [("weft.exp", "no terminator")])
    check(server, "before", '][}{ hello "\n' + GOOD, hovers, [("][", "")])
    check(server, "behind", GOOD + '][}{ hello "\n', hovers, [("}", "expected operation name")])
    check(server, "closed twice", GOOD + "}\n" + GOOD.replace("@good", "@other"), hovers, [("}", "expected operation name")])
    # What depends on a symbol that cannot be read is no problem of its own.
    check(server, "symbol", 'weft.weight @w : tensor<4xf32> = #weft.external<"w", 0>\n' + function("f", "%b = weft.load @w : tensor<4xf32>", ret) + GOOD,
          hovers, [("weft.weight", "expected ','")])


def test_parts(server):
    """Parts of a file are read each by itself, before and behind one with errors."""
    broken = function("f", "%b = weft.expp %a : tensor<4xf32>", "return %b : tensor<4xf32>")
    text = GOOD + "\n// -----\n\n" + broken + "\n// -----\n\n" + GOOD.replace("tanh", "sqrt")
    check(server, "parts", text, [("weft.tanh", "weft.tanh"), ("weft.sqrt", "weft.sqrt")], [("weft.expp", "unknown")])


def test_unclosed(server):
    uri = "file:///unclosed.mlir"
    text = GOOD + "func.func @open(%x: tensor<4xf32>) {\n  return\n"
    assert len(server.show(uri, text)) == 1
    assert "weft.tanh" in server.hover(uri, text, "weft.tanh")


def test_mending(server):
    """Problems go with their causes, and do not stay behind."""
    broken = function("f", "%b = weft.expp %a : tensor<4xf32>", "return %b : tensor<4xf32>") + GOOD
    uri = check(server, "mended", broken, [], [("weft.expp", "unknown")])
    mended = broken.replace("weft.expp", "weft.exp")
    assert server.show(uri, mended) == []
    assert "weft.exp" in server.hover(uri, mended, "weft.exp")


def test_completion(server):
    """What is being typed is completed, though another part has an error."""
    broken = function("f", "%b = weft.expp %a : tensor<4xf32>", "return %b : tensor<4xf32>")
    text = broken + function("g", "%b = weft.", "return %b : tensor<4xf32>")
    uri = "file:///completed.mlir"
    server.show(uri, text)
    at = text.index("weft.\n") + len("weft.")
    before = text[:at]
    position = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
    result = server.ask("textDocument/completion", textDocument={"uri": uri}, position=position)
    labels = [item["label"] for item in result["items"]]
    assert any("softmax" in label for label in labels), labels
    hover = server.hover(uri, text, "func.func @f")
    assert "func.func" in hover, hover


def test_characters(server):
    """Columns count as the protocol does, behind letters of several bytes."""
    text = function("f", '%b = weft.exp %a {note = "größe 𝄞"} : tensor<4xf33>', "return %b : tensor<4xf32>") + GOOD
    (line, column, _), = server.show("file:///characters.mlir", text)
    assert column == len(text.splitlines()[line].split("f33")[0].encode("utf-16-le")) // 2, column


def test_end(server):
    assert server.ask("shutdown") is None
    server.send(method="exit", params={})
    assert server.process.wait(timeout=20) == 0


def main():
    server = Server()
    for test in (test_name, test_errors, test_shapes, test_parts, test_unclosed, test_mending, test_completion, test_characters,
                 test_end):
        test(server)


if __name__ == "__main__":
    main()
